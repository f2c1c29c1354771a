import { useEffect } from "preact/hooks";
import { Mark } from "../components/icon.tsx";
import { LanguageSwitch } from "../components/language-switch.tsx";
import { FaultNotice } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/shell.ts";
import { language } from "../dictionary/language.ts";
import pt from "../dictionary/pt/shell.ts";
import { ConfirmDialog } from "./confirm.tsx";
import { Navigation } from "./navigation.tsx";
import { Outlet, shownPage, useRoutes } from "./outlet.tsx";
import { href, path } from "./place.ts";
import { isServerReachable } from "./server-reachability.ts";
import { account, loadSignIn as loadSession, sessionFault, signedIn as sessionState } from "./session.ts";
import { Toasts } from "./toasts.tsx";

const t = dictionary({ en, pt });

/** The whole page: the frame for signed-in users, one card for everyone else. */
export function App() {
  useRoutes();
  const tag = language.value;
  useEffect(() => {
    document.documentElement.lang = tag;
  }, [tag]);
  const view = shownPage.value;
  const isSignedOut =
    account.value === null || (typeof view === "object" && "route" in view && view.route.access === "signed-out");
  return (
    <>
      <ConnectionBanner />
      {sessionState.value === undefined && sessionFault.value === undefined ? (
        <LoadingScreen />
      ) : isSignedOut ? (
        <SignedOutCard />
      ) : (
        <Frame />
      )}
      <Toasts />
      <ConfirmDialog />
    </>
  );
}

/** Shown until the server has reported the session, which takes a moment. */
function LoadingScreen() {
  return (
    <div class="starting" role="status">
      <Mark />
      <span class="visually-hidden">{t.value.starting}</span>
    </div>
  );
}

function Frame() {
  const { email = "" } = account.value ?? {};
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        {t.value.skip}
      </button>
      <header class="frame-top">
        <a class="brand" href={href("/")} aria-label={t.value.home}>
          <Mark />
          <span>ringport</span>
        </a>
        <a
          class="frame-account"
          href={href("/account")}
          aria-current={path.value === "/account" ? "page" : undefined}
          aria-label={t.value.accountOf(email)}
        >
          <span class="avatar" data-letter={email[0]} />
          <span class="email">{email}</span>
        </a>
      </header>
      <Navigation />
      <main class="frame-main" id="main" tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}

function SignedOutCard() {
  return (
    <main class="alone">
      <div class="row row-apart">
        <a class="brand" href={href("/")} aria-label={t.value.home}>
          <Mark />
          <span>ringport</span>
        </a>
        <LanguageSwitch />
      </div>
      {sessionState.value === undefined && sessionFault.value !== undefined ? (
        <FaultNotice error={sessionFault.value} retry={() => void loadSession()} />
      ) : (
        <div class="card">
          <Outlet />
        </div>
      )}
    </main>
  );
}

/** Shown while the server does not respond, since the pages may be outdated. */
function ConnectionBanner() {
  return (
    <div class="banner" role="status">
      {isServerReachable.value ? "" : t.value.disconnected}
    </div>
  );
}

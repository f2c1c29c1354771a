import { Icon, type IconName } from "../components/icon.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/shell.ts";
import pt from "../dictionary/pt/shell.ts";
import { href, path } from "./place.ts";
import { signedIn } from "./session.ts";

const t = dictionary({ en, pt });

interface Item {
  readonly page: string;
  readonly icon: IconName;
  readonly text: keyof typeof en.navigation;
  /** True if shown only if Ringport manages the accounts. */
  readonly accounts?: boolean;
  /** True if shown only with the simulated network; hidden on narrow screens, which have no room for it. */
  readonly simulator?: boolean;
}

const ITEMS: readonly Item[] = [
  { page: "/", icon: "home", text: "overview" },
  { page: "/instances", icon: "line", text: "instances" },
  { page: "/calls", icon: "call", text: "calls" },
  { page: "/batches", icon: "batch", text: "batches" },
  { page: "/phone", icon: "keypad", text: "phone", simulator: true },
  { page: "/webhooks", icon: "webhook", text: "webhooks" },
  { page: "/tokens", icon: "key", text: "tokens", accounts: true },
];

/** Links to the parts of the console, at the bottom of narrow screens and at the side of wide ones. */
export function Navigation() {
  return (
    <nav class="frame-nav" aria-label={t.value.navigationLabel}>
      <ul class="frame-items">
        {ITEMS.filter(isOffered).map(({ page, icon, text, simulator }) => (
          <li key={page} class={simulator ? "frame-item-wide" : undefined}>
            <a href={href(page)} aria-current={ariaCurrentOf(page)}>
              <Icon name={icon} size={22} />
              {t.value.navigation[text]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function isOffered({ accounts, simulator }: Item): boolean {
  return (!accounts || signedIn.value?.accounts === true) && (!simulator || signedIn.value?.simulator === true);
}

/** "page" on the page itself, "true" on the pages under it. */
function ariaCurrentOf(page: string): "page" | "true" | undefined {
  if (path.value === page) return "page";
  return page !== "/" && path.value.startsWith(`${page}/`) ? "true" : undefined;
}

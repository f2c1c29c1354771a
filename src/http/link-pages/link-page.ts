import type { LinkPageState } from "../../application/use-cases.ts";
import { encodeBase64 } from "../../base/base64.ts";
import { escapeHtml, type HtmlPage, htmlPage } from "../../base/html-page.ts";
import type { View } from "../response-types.ts";
import type { QrImages } from "./qr.ts";

/** The state of a link page as JSON. */
export async function linkPageState(state: LinkPageState, qrImage: QrImages): Promise<View<"LinkPageState">> {
  const { name, linked } = state;
  if (linked) return { name, linked, phone: state.phone, qrCodeBase64: null };
  return { name, linked, phone: null, qrCodeBase64: encodeBase64(await qrImage(state.code.payload)) };
}

/** The page with the code, or with the number once it is linked. */
export async function linkPage(state: LinkPageState, qrImage: QrImages): Promise<HtmlPage> {
  const name = `“${escapeHtml(state.name)}”`;
  if (state.linked) {
    const suffix = state.phone === null ? "" : ` as ${escapeHtml(state.phone)}`;
    const body = `<p class="mark" aria-hidden="true">✓</p>
<p>${name} now places its calls${suffix}. You can close this page.</p>`;
    return htmlPage("Linked", body, "card");
  }
  const { payload } = state.code;
  const link = /^https?:/.test(payload) ? `, or <a href="${escapeHtml(payload)}">open its address</a> on it` : "";
  const image = encodeBase64(await qrImage(payload));
  const body = `<p>Scan this code with the phone that ${name} is to call from${link}.</p>
<p><img alt="QR code that links the phone" width="280" height="280" src="data:image/png;base64,${image}"></p>
<p role="status"></p>
<noscript><p>The code changes. <a href="">Show the current one</a></p></noscript>`;
  return htmlPage("Link this phone", body, "card", FOLLOW_SCRIPT);
}

/** Error page. @param reloads true if the fault may pass, so that the page reloads itself */
export function refusalPage(title: string, detail: string, { reloads }: { reloads: boolean }): Promise<HtmlPage> {
  const hint = reloads ? "<p>This page tries again automatically.</p>" : "";
  return htmlPage(title, `<p>${escapeHtml(detail)}</p>${hint}`, "card", reloads ? RELOAD : undefined);
}

const RELOAD = "setTimeout(() => location.reload(), 5000);";

/** Shows each new code, and loads the page again once the number is linked or the page has expired. */
const FOLLOW_SCRIPT = `
const image = document.querySelector("img");
const status = document.querySelector("[role=status]");
const show = (text) => { if (status.textContent !== text) status.textContent = text; };
async function follow() {
  let wait = 2000;
  try {
    const reply = await fetch(location.href, { headers: { accept: "application/json" }, cache: "no-store" });
    const state = await reply.json();
    if (state.linked || reply.status === 404 || reply.status === 410) return location.reload();
    if (reply.ok) {
      const source = "data:image/png;base64," + state.qrCodeBase64;
      if (image.src !== source) image.src = source;
      show("");
    } else {
      wait = 5000;
      show("No code at the moment: " + state.detail);
    }
  } catch {
    show("The server cannot be reached; trying again.");
  }
  setTimeout(follow, wait);
}
setTimeout(follow, 2000);
`;

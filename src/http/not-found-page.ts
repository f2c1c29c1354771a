import { escapeHtml, type HtmlPage, htmlPage } from "../base/html-page.ts";

/** What a browser shows for an address that leads nowhere. */
export function notFoundPage(base: string): Promise<HtmlPage> {
  const at = escapeHtml(base);
  return htmlPage(
    "There is no such page",
    `<p>This is a Ringport server. <a href="${at}/docs">Its interface</a> is documented here, and so are <a href="${at}/docs/errors">its errors</a>.</p>`,
    "card",
  );
}

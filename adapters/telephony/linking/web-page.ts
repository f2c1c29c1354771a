import type { Reply } from "../../../src/ports/web.ts";

const STYLE = `:root{color-scheme:light dark}
body{font:1.125rem/1.5 system-ui,sans-serif;margin:0;min-height:100vh;display:grid;place-items:center;text-align:center}
main{max-width:22rem;padding:1.5rem}
h1{font-size:1.5rem;line-height:1.2}
button{font:inherit;font-weight:600;width:100%;padding:1rem;border:0;border-radius:.75rem;background:#0a6b4b;color:#fff}
button:focus-visible,input:focus-visible,select:focus-visible,summary:focus-visible{outline:3px solid;outline-offset:3px}
label,details,.fault{display:block;text-align:left;margin:0 0 1rem}
input,select{font:inherit;box-sizing:border-box;width:100%;padding:.6rem;border:1px solid;border-radius:.5rem}
input[type=checkbox]{width:auto}
small{display:block;opacity:.75}
.fault{padding:.6rem .8rem;border-left:.3rem solid #c0341d}`;

/** The contents of a page. */
export interface PageText {
  readonly title: string;
  /** HTML. */
  readonly body: string;
}

export const UNKNOWN_CODE: PageText = {
  title: "We do not know this code",
  body: "<p>Please scan the QR code once more. It changes every 20 seconds.</p>",
};
export const STALE_CODE: PageText = {
  title: "This code is no longer valid",
  body: "<p>It has been used, or it is too old. Please scan the one that is shown now.</p>",
};
export const WRONG_METHOD: PageText = {
  title: "That does not work here",
  body: "<p>Please open this page in a browser and press the button.</p>",
};
export const NOT_STORED: PageText = {
  title: "This phone could not be linked just now",
  body: "<p>Please go back and try again in a moment.</p>",
};

let styleHash: Promise<string> | undefined;

/** A page for a phone's browser, without scripts and external resources; its forms go to this server only. */
export async function webPage(
  method: string,
  status: number,
  text: PageText,
  headers: Record<string, string> = {},
): Promise<Reply> {
  styleHash ??= sha256(STYLE);
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${text.title}</title>
<style>${STYLE}</style>
<main>
<h1>${text.title}</h1>
${text.body}
</main>
</html>
`;
  return {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `default-src 'none'; style-src 'sha256-${await styleHash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      ...headers,
    },
    body: method === "HEAD" ? undefined : html,
  };
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}

/** Escapes a text for HTML, attribute values included. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

import { encodeBase64 } from "./base64.ts";

const STYLE = `:root{color-scheme:light dark}
body{font:1.0625rem/1.5 system-ui,sans-serif;margin:0;overflow-wrap:anywhere}
main{max-width:46rem;margin:0 auto;padding:1.5rem}
h1,h2,h3{line-height:1.2}
h2{margin-top:2.5rem}
h3{margin-top:2rem}
:target{background:#ffe08a;color:#000}
nav ul{columns:15rem;padding-left:1.25rem}
q{opacity:.8}
dt{margin-top:1rem}
.card{min-height:100vh;display:grid;place-items:center;text-align:center;font-size:1.125rem}
.card main{max-width:22rem;margin:0}
.card h1{font-size:1.5rem}
.card :is(h1,p:not(.fault)){text-wrap:balance}
.mark{font-size:4rem;line-height:1;margin:0;color:#1a9c6f}
button{font:inherit;font-weight:600;width:100%;padding:1rem;border:0;border-radius:.75rem;background:#0a6b4b;color:#fff}
a:focus-visible,button:focus-visible,input:focus-visible,select:focus-visible,summary:focus-visible{outline:3px solid;outline-offset:3px}
label,details,.fault{display:block;text-align:left;margin:0 0 1rem}
input,select{font:inherit;box-sizing:border-box;width:100%;padding:.6rem;border:1px solid;border-radius:.5rem}
details[open] summary{margin-bottom:.75rem}
input[type=checkbox]{width:auto}
small{display:block;opacity:.75}
.fault{padding:.6rem .8rem;border-left:.3rem solid #c0341d}`;

/** A self-contained page in the common style, light or dark. */
export interface HtmlPage {
  readonly html: string;
  /**
   * Allows the style, an empty icon, images in the page, and forms to this server. If the page has a script, the script
   * and its requests to this server are allowed as well.
   */
  readonly contentSecurityPolicy: string;
}

let styleHash: Promise<string> | undefined;

/**
 * A page without external files.
 * @param title text, not HTML
 * @param body HTML below the heading
 * @param layout `card`: one short message in the middle of a phone's screen; `text`: a page to read
 * @param script runs after the body. Default: the page has none
 */
export async function htmlPage(
  title: string,
  body: string,
  layout: "card" | "text",
  script?: string,
): Promise<HtmlPage> {
  styleHash ??= sha256Base64(STYLE);
  const heading = escapeHtml(title);
  return {
    html: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${heading}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
<body class="${layout}">
<main>
<h1>${heading}</h1>
${body}
</main>
${script === undefined ? "" : `<script>${script}</script>\n`}</html>
`,
    contentSecurityPolicy: `default-src 'none'; img-src data:; style-src 'sha256-${await styleHash}'; ${await scriptPolicy(script)}form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  };
}

async function scriptPolicy(script: string | undefined): Promise<string> {
  return script === undefined ? "" : `script-src 'sha256-${await sha256Base64(script)}'; connect-src 'self'; `;
}

/** Escapes text for HTML, including attribute values. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

async function sha256Base64(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return encodeBase64(new Uint8Array(digest));
}

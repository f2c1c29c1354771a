import type { Logger } from "../../../src/ports/logger.ts";
import type { Reply, RequestLike } from "../../../src/ports/web.ts";
import type { LinkCodes } from "./linking.ts";

const LINK_PATH = /^\/link(?:\/([^/]*))?\/?$/;

const STYLE = `:root{color-scheme:light dark}
body{font:1.125rem/1.5 system-ui,sans-serif;margin:0;min-height:100vh;display:grid;place-items:center;text-align:center}
main{max-width:22rem;padding:1.5rem}
h1{font-size:1.5rem;line-height:1.2}
button{font:inherit;font-weight:600;width:100%;padding:1rem;border:0;border-radius:.75rem;background:#0a6b4b;color:#fff}
button:focus-visible{outline:3px solid;outline-offset:3px}`;

let styleHash: Promise<string> | undefined;

/**
 * The linking pages: what a phone shows after it has scanned a code. Undefined when the path is not one of them.
 * @param path what follows `/simulator`
 */
export async function linkPage(
  codes: LinkCodes,
  logger: Logger,
  path: string,
  request: RequestLike,
): Promise<Reply | undefined> {
  const match = LINK_PATH.exec(path);
  if (match === null) return undefined;
  const { method } = request;
  const code = codes.find(match[1] ?? "");
  if (code === undefined) return page(method, 404, UNKNOWN);
  if (method !== "GET" && method !== "HEAD" && method !== "POST")
    return page(method, 405, WRONG_METHOD, { allow: "GET, HEAD, POST" });
  if (!codes.accepts(code)) return page(method, 410, STALE);
  const { target } = code.attempt;
  if (method !== "POST") {
    if (method === "GET") codes.reserve(code);
    return page(method, 200, linkThis(target.name));
  }
  code.used = true;
  let phone: string | undefined;
  try {
    phone = await target.accept();
  } catch (fault) {
    code.used = false; // nothing was linked: the button may be pressed again
    logger.error({ err: fault, instance_id: target.instanceId }, "simulator: the credentials could not be stored");
    return page(method, 503, NOT_STORED, { "retry-after": "2" });
  }
  if (phone === undefined) return page(method, 410, STALE);
  if (/\bapplication\/json\b/.test(request.headers.get("accept") ?? ""))
    return {
      status: 200,
      headers: { "content-type": "application/json", "cache-control": "no-store" },
      body: JSON.stringify({ linked: true, instance_id: target.instanceId, phone }),
    };
  return page(method, 200, linked(target.name, phone));
}

interface PageText {
  readonly title: string;
  /** HTML. */
  readonly body: string;
}

const UNKNOWN: PageText = {
  title: "We do not know this code",
  body: "<p>Please scan the QR code once more. It changes every 20 seconds.</p>",
};
const STALE: PageText = {
  title: "This code is no longer valid",
  body: "<p>It has been used, or it is too old. Please scan the one that is shown now.</p>",
};
const WRONG_METHOD: PageText = {
  title: "That does not work here",
  body: "<p>Please open this page in a browser and press the button.</p>",
};
const NOT_STORED: PageText = {
  title: "This phone could not be linked just now",
  body: "<p>Please go back and try again in a moment.</p>",
};

function linkThis(name: string): PageText {
  return {
    title: "Link this phone",
    body: `<p>“${escapeHtml(name)}” will place its calls through this simulated phone.</p>
<form method="post"><button>Link this phone</button></form>`,
  };
}

function linked(name: string, phone: string): PageText {
  return {
    title: "Linked",
    body: `<p>“${escapeHtml(name)}” now places its calls as ${escapeHtml(phone)}. You can close this page.</p>`,
  };
}

async function page(
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

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

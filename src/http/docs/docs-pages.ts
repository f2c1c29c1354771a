import { escapeHtml, type HtmlPage, htmlPage } from "../../base/html-page.ts";
import { PROBLEM_CODES, PROBLEMS } from "../problems/problem-table.ts";
import { REASON_TEXTS } from "../problems/reason-texts.ts";

/** The interactive page; it loads only its own script and style. */
export function docsPage(base: string): string {
  const basePath = escapeHtml(base);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Ringport: HTTP interface</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${basePath}/docs/assets/swagger-ui.css">
<style>${DOCS_STYLE}</style>
</head>
<body>
<noscript>This page needs JavaScript. The same document is in <a href="${basePath}/openapi.json">openapi.json</a>.</noscript>
<div id="docs"></div>
<script src="${basePath}/docs/assets/swagger-ui-bundle.js"></script>
<script src="${basePath}/docs/assets/init.js"></script>
</body>
</html>
`;
}

/**
 * Starts the interactive page. `validatorUrl: null` keeps it from sending the document to a third-party validator. The
 * token is kept for this tab (sessionStorage) from Authorize to Logout, so that a reload does not lose it.
 */
export function docsScript(base: string): string {
  const options = { url: `${base}/openapi.json`, dom_id: "#docs", deepLinking: true, validatorUrl: null };
  return `const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", paint);
paint();
const STORAGE_KEY = "ringport-token";
const keepToken = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorize: (authorize) => (credentials) => {
          if (credentials.bearer?.value) sessionStorage.setItem(STORAGE_KEY, credentials.bearer.value);
          return authorize(credentials);
        },
        logout: (logout) => (names) => {
          if (names.includes("bearer")) sessionStorage.removeItem(STORAGE_KEY);
          return logout(names);
        },
      },
    },
  },
});
const ui = SwaggerUIBundle({
  ...${JSON.stringify(options).replaceAll("<", "\\u003c")},
  plugins: [keepToken],
  onComplete() {
    const token = sessionStorage.getItem(STORAGE_KEY);
    if (token) ui.preauthorizeApiKey("bearer", token);
  },
});
`;
}

/**
 * Content security policy of the interactive page. Swagger UI writes style attributes, hence the one 'unsafe-inline'.
 * @param api origin of the server that its "Try it out" calls
 */
export function docsPolicy(api: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "media-src 'self' blob:",
    `connect-src 'self' ${api}`.trim(),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The page that problem types point to, with an anchor for each code and for each reason why a call ended. */
export function errorsPage(base: string): Promise<HtmlPage> {
  const problems = PROBLEM_CODES.map((code) => {
    const { status, title, meaning, fix, example } = PROBLEMS[code];
    return (
      `<h3 id="${code}"><a href="#${code}"><code>${code.replaceAll("_", "_<wbr>")}</code></a></h3>\n` +
      `<p>${status} ${escapeHtml(title)}. ${withCode(meaning)}</p>\n` +
      `<p>${withCode(fix)}</p>\n<p><q>${escapeHtml(example)}</q></p>`
    );
  });
  const reasons = Object.entries(REASON_TEXTS).map(
    ([reason, text]) => `<dt id="reason-${reason}"><code>${reason}</code></dt><dd>${withCode(text)}</dd>`,
  );
  const codes = PROBLEM_CODES.map((code) => `<li><a href="#${code}"><code>${code}</code></a></li>`);
  const reasonLinks = Object.keys(REASON_TEXTS).map(
    (reason) => `<li><a href="#reason-${reason}"><code>${reason}</code></a></li>`,
  );
  return htmlPage(
    "Errors",
    `<p>Every error is a problem document (RFC 9457). Its <code>code</code> is one of these and never changes its meaning;
its <code>type</code> points to this page. A 400 lists every fault under <code>errors</code>. The whole interface is on
<a href="${escapeHtml(base)}/docs">its page</a> and in <a href="${escapeHtml(base)}/openapi.json">openapi.json</a>.</p>
<nav><p><a href="#codes">Why a request was refused</a></p><ul>${codes.join("")}</ul>
<p><a href="#reasons">Why a call ended</a></p><ul>${reasonLinks.join("")}</ul></nav>
<h2 id="codes">Why a request was refused</h2>
${problems.join("\n")}
<h2 id="reasons">Why a call ended</h2>
<p>These are not errors, but the outcomes of calls: <code>outcome.reason</code>.</p>
<dl>
${reasons.join("\n")}
</dl>`,
    "text",
  );
}

/** HTML of a text in which backticks mark code. */
function withCode(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

/**
 * Fits Swagger UI to a phone: no column for links, which no response has, and long names and types on separate lines.
 */
const FIT = `.swagger-ui .response-col_links{display:none}
.swagger-ui :is(.json-schema-2020-12-accordion,.json-schema-2020-12__title){max-width:100%;overflow-wrap:anywhere;text-align:left}
.swagger-ui .json-schema-2020-12__attribute--primary{box-sizing:border-box;display:inline-block;max-width:100%;overflow:hidden;text-overflow:ellipsis;vertical-align:text-bottom;white-space:nowrap}
@media (max-width:40rem){.swagger-ui :is(.responses-inner,.opblock .table-container,.opblock-description-wrapper){padding:.75rem}
.swagger-ui table:is(.responses-table,.headers) tbody tr td:first-of-type{min-width:3em;padding-right:.5em}
.swagger-ui table.headers td{padding-right:.5em}
.swagger-ui .models .json-schema-2020-12__title{font-size:.8rem!important}}`;

/** Recolours the texts of Swagger UI whose contrast is less than WCAG 2.2 (1.4.3) requires. */
const CONTRAST = `.swagger-ui .highlight-code span[style*="rgb(211, 99, 99)"]{color:#ff8a80!important}
html.dark-mode .swagger-ui .opblock .opblock-section-header .try-out__btn.cancel{color:#ff8a80;border-color:#ff8a80}
html.dark-mode .swagger-ui :is(table.headers td,.examples-select__section-label){color:#e4e6e6}
html:not(.dark-mode) .swagger-ui .opblock .opblock-summary-method{color:#080a0b;text-shadow:none}
html:not(.dark-mode) .swagger-ui .btn.authorize{color:#0a6b4b;border-color:#0a6b4b}
html:not(.dark-mode) .swagger-ui .btn.authorize svg{color:#0a6b4b}
html:not(.dark-mode) .swagger-ui :is(.btn.cancel,.parameter__name.required span){color:#b3261e;border-color:#b3261e}
html:not(.dark-mode) .swagger-ui .parameter__name.required::after{color:#b3261e}
html:not(.dark-mode) .swagger-ui .btn.execute{background:#1f62a8;border-color:#1f62a8}
html:not(.dark-mode) .swagger-ui .download-contents{background:#5c6373}
html:not(.dark-mode) .swagger-ui :is(.parameter__in,.json-schema-2020-12__attribute--muted){color:#5c6373}
html:not(.dark-mode) .swagger-ui .json-schema-2020-12__constraint--string{color:#080a0b}
html:not(.dark-mode) .swagger-ui .info .title small{background:#5c6373}
html:not(.dark-mode) .swagger-ui .info .title small.version-stamp{background:#446a00}
html:not(.dark-mode) .swagger-ui .info :is(a,.url){color:#1f62a8}
html:not(.dark-mode) .swagger-ui .json-schema-2020-12-expand-deep-button{color:#505050}`;

/** Style of the interactive page, in addition to Swagger UI's. */
const DOCS_STYLE = `${FIT}\n${CONTRAST}`;

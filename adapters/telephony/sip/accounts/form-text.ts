import { escapeHtml } from "../../../../src/base/html-page.ts";
import type { PageText } from "../../linking/web-page.ts";
import type { AccountFaults, SipAccount } from "./sip-account.ts";

interface Field {
  readonly name: "server" | "user" | "password" | "authUser" | "domain" | "callerId";
  readonly label: string;
  readonly hint?: string;
  /** More attributes for the input. */
  readonly input?: string;
}

const MAIN_FIELDS: readonly Field[] = [
  { name: "server", label: "Server", hint: "sip.example.com, or with a port", input: 'required inputmode="url"' },
  { name: "user", label: "User", input: "required" },
  { name: "password", label: "Password", input: 'type="password"' },
];
const MORE_FIELDS: readonly Field[] = [
  { name: "authUser", label: "User for the password", hint: "if it differs from the user" },
  { name: "domain", label: "Domain", hint: "if it differs from the server" },
  { name: "callerId", label: "Caller ID", hint: "such as +12025550123", input: 'inputmode="tel"' },
];
const TRANSPORTS = { udp: "UDP", tcp: "TCP", tls: "TLS (encrypted)" } as const;

/** The form for an account, with the entered values and their faults. The password is never shown again. */
export function formText(name: string, account?: SipAccount, faults: AccountFaults = {}, reason?: string): PageText {
  const fieldNotice = Object.keys(faults).length > 0 ? "Please correct the marked fields." : undefined;
  const notice = reason === undefined ? fieldNotice : byLabel(reason);
  const field = (entry: Field): string => fieldText(entry, account, faults[entry.name]);
  const openAttribute = MORE_FIELDS.some((entry) => faults[entry.name] ?? account?.[entry.name]) ? " open" : "";
  const options = Object.entries(TRANSPORTS).map(
    ([kind, label]) =>
      `<option value="${kind}"${kind === (account?.transport ?? "udp") ? " selected" : ""}>${label}</option>`,
  );
  return {
    title: "Enter a SIP account",
    body: `<p>“${escapeHtml(name)}” will place its calls with this account. The account is tested before it is stored.</p>
${notice === undefined ? "" : `<p class="fault" role="alert">${escapeHtml(notice)}</p>`}
<form method="post" autocomplete="off">
${MAIN_FIELDS.map(field).join("\n")}
<label>Transport<select name="transport">${options.join("")}</select></label>
<label><input type="checkbox" name="register"${(account?.register ?? true) ? " checked" : ""}> Register at the server</label>
<details${openAttribute}><summary>More</summary>
${MORE_FIELDS.map(field).join("\n")}
</details>
<button>Test and link</button>
</form>`,
  };
}

/** Replaces a trunk's option names in a reason, such as `authUser`, with the fields' labels. */
function byLabel(reason: string): string {
  return [...MAIN_FIELDS, ...MORE_FIELDS].reduce(
    (text, { name, label }) => text.replaceAll(`\`${name}\``, `“${label}”`),
    reason,
  );
}

function fieldText({ name, label, hint, input = "" }: Field, account: SipAccount | undefined, fault?: string): string {
  const value = name === "password" ? undefined : account?.[name];
  const attributes = [
    `name="${name}"`,
    'maxlength="255" autocapitalize="none" spellcheck="false"',
    input,
    value === undefined ? "" : `value="${escapeHtml(value)}"`,
    fault === undefined ? "" : `aria-invalid="true" aria-describedby="${name}-fault"`,
  ];
  const hintText = hint === undefined ? "" : `<small>${hint}</small>`;
  const message = fault === undefined ? "" : `<span class="fault" id="${name}-fault">${escapeHtml(fault)}</span>`;
  return `<label>${label}<input ${attributes.filter((attribute) => attribute !== "").join(" ")}>${hintText}${message}</label>`;
}

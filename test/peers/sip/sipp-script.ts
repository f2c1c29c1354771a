/** Steps of a sipp scenario in which sipp is called; joined, they form its XML. */

/** Options of a response. */
export interface ResponseOptions {
  /** More header fields, one per line. */
  readonly fields?: string;
  readonly sdp?: string;
  /** Suffix of the callee's tag, for another fork. */
  readonly fork?: string;
  /** True if the message is repeated until the ACK arrives. */
  readonly repeated?: boolean;
  /** True to keep the To as received: in a 100, or within a dialog. */
  readonly keepsTo?: boolean;
  /** True to respond to the first INVITE, although other requests have arrived since. */
  readonly toInvite?: boolean;
  /** True for compact field names and odd spaces. */
  readonly oddSpacing?: boolean;
}

const lines = (text: string): string =>
  text
    .split("\n")
    .map((line) => `      ${line.trim()}`)
    .join("\n");
const body = (sdp: string | undefined, compact = false): string => {
  const [type, length] = compact ? ["c", "l"] : ["Content-Type", "Content-Length"];
  return sdp ? `${type}: application/sdp\n${length}: [len]\n\n${sdp.trim()}\n` : `${length}: 0\n\n`;
};
const send = (text: string, repeated: boolean): string =>
  `  <send${repeated ? ' retrans="500"' : ""}><![CDATA[\n\n${lines(text)}\n    ]]></send>\n`;

/** The callee's SDP. */
export const sdp = ({ version = 1, direction = "sendrecv", formats = "0 101", port = "[media_port]" } = {}): string => `
  v=0
  o=sipp 1 ${version} IN IP4 [local_ip]
  s=-
  c=IN IP4 [media_ip]
  t=0 0
  m=audio ${port} RTP/AVP ${formats}
  ${formats.includes("101") ? "a=rtpmap:101 telephone-event/8000\n  a=fmtp:101 0-16" : "a=x-nothing"}
  a=ptime:20
  a=${direction}`;

const TAG = "[pid]S[call_number]";
export const CONTACT = "Contact: <sip:sipp@[local_ip]:[local_port];transport=[transport]>";
const ALLOW = "Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK";

/** Sends a response to the latest request. */
export function respond(start: string, options: ResponseOptions = {}): string {
  const { fields, fork = "", repeated = false, keepsTo = false, toInvite = false, oddSpacing = false } = options;
  const tag = keepsTo ? "" : `;tag=${TAG}${fork}`;
  const copiedFields = oddSpacing
    ? ["v:[$via]", `t :[$to]${tag}`, "f:[$from]", "CSEQ:[$cseq]", "i:  [call_id]"]
    : toInvite
      ? ["Via:[$via]", "From:[$from]", `To:[$to]${tag}`, "[last_Call-ID:]", "CSeq:[$cseq]"]
      : ["[last_Via:]", "[last_From:]", `[last_To:]${tag}`, "[last_Call-ID:]", "[last_CSeq:]"];
  const headLines = [`SIP/2.0 ${start}`, ...copiedFields];
  if (fields) headLines.push(fields);
  return send(`${headLines.join("\n")}\n${body(options.sdp, oddSpacing)}`, repeated);
}

/** Waits for a request. @param check regular expression for its header or body */
export const expectRequest = (method: string, check?: { readonly field?: string; readonly pattern: string }): string =>
  `  <recv request="${method}" crlf="true" timeout="12000">${check ? `<action>${ereg(check)}</action>` : ""}</recv>\n${check ? '  <Reference variables="seen"/>\n' : ""}`;

/** An optional request, now or later. */
export const optionalRequest = (method: string): string => `  <recv request="${method}" optional="true"/>\n`;

const ereg = ({ field, pattern }: { readonly field?: string; readonly pattern: string }): string =>
  `<ereg regexp="${escapeXml(pattern)}" ${field ? `search_in="hdr" header="${field}:"` : 'search_in="msg"'} check_it="true" assign_to="seen"/>`;
const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** The first INVITE; stores values for later requests to the caller. */
export const expectInvite = (check?: { readonly field?: string; readonly pattern: string }): string => `
  <recv request="INVITE" crlf="true"><action>
    <ereg regexp="&lt;(sip:[^&gt;]+)&gt;" search_in="hdr" header="Contact:" check_it="true" assign_to="whole,target"/>
    <ereg regexp=".*" search_in="hdr" header="From:" assign_to="from"/>
    <ereg regexp=".*" search_in="hdr" header="To:" assign_to="to"/>
    <ereg regexp=".*" search_in="hdr" header="Via:" assign_to="via"/>
    <ereg regexp=".*" search_in="hdr" header="CSeq:" assign_to="cseq"/>
    ${check ? ereg(check) : ""}
  </action></recv>
  <Reference variables="whole,target,from,to,via,cseq${check ? ",seen" : ""}"/>
`;

/** Sends a request to the caller, within the dialog. */
export function request(
  method: string,
  { number = 1, fields = "", sdp: offer = "" as string, content = "" } = {},
): string {
  const head = `${method} [$target] SIP/2.0
    Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
    Max-Forwards: 70
    From:[$to];tag=${TAG}
    To:[$from]
    [last_Call-ID:]
    CSeq: ${number} ${method}
    ${CONTACT}${fields ? `\n${fields}` : ""}`;
  return send(`${head}\n${content || body(offer)}`, method !== "ACK");
}

/** Waits for the response to the request. */
export const expectResponse = (status: number, check?: { readonly field?: string; readonly pattern: string }): string =>
  `  <recv response="${status}" crlf="true" timeout="8000">${check ? `<action>${ereg(check)}</action>` : ""}</recv>\n${check ? '  <Reference variables="seen"/>\n' : ""}`;

export const pause = (ms: number): string => `  <pause milliseconds="${ms}"/>\n`;

export const ringing = respond("180 Ringing", { fields: CONTACT });
/** 200 with SDP, repeated until the ACK arrives. */
export const accept = (options: ResponseOptions = {}): string =>
  respond("200 OK", {
    sdp: sdp(),
    repeated: true,
    ...options,
    fields: `${CONTACT}\n${ALLOW}${options.fields ? `\n${options.fields}` : ""}`,
  });
export const ack = '  <recv request="ACK" timeout="8000"/>\n';
/** Waits for the caller's BYE. */
export const expectBye = `${expectRequest("BYE")}${respond("200 OK", { keepsTo: true })}`;

/** The whole scenario. */
export const scenario = (name: string, ...steps: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8" ?>\n<scenario name="${name}">\n${steps.join("")}</scenario>\n`;

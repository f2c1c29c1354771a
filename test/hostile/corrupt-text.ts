/** Numbers from 0 to below 1. */
export type Draw = () => number;

/** Changes a message in one way; returns it unchanged if the change does not apply. */
type TextChange = (message: Buffer, draw: Draw) => Buffer;

const NUMBERS = ["0", "-1", "65536", "4294967296", "99999999999999999999999", "1e9", "00000000000000007", "0x10"];
const STATUSES = [
  "100",
  "180",
  "183",
  "199",
  "200",
  "204",
  "302",
  "401",
  "407",
  "422",
  "481",
  "491",
  "500",
  "603",
  "699",
];
const LINES = [
  "Require: 100rel, nonsense",
  "RSeq: 4294967295",
  "Session-Expires: 1;refresher=uac",
  "Record-Route: <sip:127.0.0.1;lr>, <sip:strict@127.0.0.1>",
  "Contact: <sip:x@127.0.0.1:9;transport=tcp>, <sip:y@127.0.0.1:1>",
  'WWW-Authenticate: Digest realm="r", nonce="", qop="auth,auth-int", algorithm=SHA-256-sess',
  "Content-Encoding: gzip",
  "Content-Type: multipart/mixed;boundary=--",
  " continued line",
  "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:AAAA|2^99|1:4",
  "a=rtpmap:0 opus/48000/2",
  "m=audio 0 RTP/AVP",
  "a=rtcp:99999 IN IP4 127.0.0.1",
  "a=inactive",
  "a=ptime:0",
];

const pick = <One>(all: readonly One[], draw: Draw): One => all[Math.floor(draw() * all.length)]!;
const latin = (message: Buffer): string => message.toString("latin1");
const bytes = (text: string): Buffer => Buffer.from(text, "latin1");

/** Edits the lines, body included. */
function editLines(change: (all: string[], at: number, draw: Draw) => void): TextChange {
  return (message, draw) => {
    const all = latin(message).split("\r\n");
    change(all, Math.floor(draw() * all.length), draw);
    return bytes(all.join("\r\n"));
  };
}

/** Replaces one match of a pattern. */
function replaceMatch(pattern: RegExp, replacement: (found: string, draw: Draw) => string): TextChange {
  return (message, draw) => {
    const text = latin(message);
    const matches = [...text.matchAll(pattern)];
    if (matches.length === 0) return message;
    const match = pick(matches, draw);
    return bytes(text.slice(0, match.index) + replacement(match[0], draw) + text.slice(match.index + match[0].length));
  };
}

const TEXT_CHANGES: readonly TextChange[] = [
  (message, draw) => {
    const corruptedMessage = Buffer.from(message);
    for (let n = Math.ceil(draw() * 8); n > 0 && corruptedMessage.length > 0; n--)
      corruptedMessage[Math.floor(draw() * corruptedMessage.length)]! ^= 1 << Math.floor(draw() * 8);
    return corruptedMessage;
  },
  (message, draw) => message.subarray(0, Math.floor(draw() * message.length)),
  (message, draw) => {
    const noise = Buffer.from(Array.from({ length: Math.ceil(draw() * 20) }, () => Math.floor(draw() * 256)));
    const at = Math.floor(draw() * message.length);
    return Buffer.concat([message.subarray(0, at), noise, message.subarray(at)]);
  },
  editLines((all, at, draw) => void all.splice(at, 0, ...Array<string>(Math.ceil(draw() * 4)).fill(all[at]!))),
  editLines((all, at, draw) => {
    const other = Math.floor(draw() * all.length);
    [all[at], all[other]] = [all[other]!, all[at]!];
  }),
  editLines((all, at) => void all.splice(at, 1)),
  editLines((all, at, draw) => void all.splice(at, 0, pick(LINES, draw))),
  editLines((all, at, draw) => {
    all[at] += pick([";", ",", '"', "<", "%", "\\"], draw).repeat(Math.ceil(draw() * 3_000));
  }),
  replaceMatch(/\d+/g, (_, draw) => pick(NUMBERS, draw)),
  replaceMatch(/;tag=[^;\r]*/g, (_, draw) =>
    pick(["", ";tag=", `;tag=${Math.floor(draw() * 1e9)}`, ";tag=a;tag=b"], draw),
  ),
  replaceMatch(/SIP\/2\.0\/UDP|RTP\/AVP/g, (_, draw) =>
    pick(["SIP/2.0/TCP", "SIP/2.0/TLS", "RTP/SAVP", "RTP/SAVPF", "udp"], draw),
  ),
  replaceMatch(/^SIP\/2\.0 \d{3}/g, (_, draw) => `SIP/2.0 ${pick(STATUSES, draw)}`),
  replaceMatch(/branch=[^;\r]*/g, (_, draw) => pick(["branch=", "branch=z9hG4bK", `branch=z9hG4bK${draw()}`], draw)),
  replaceMatch(
    /CSeq: \d+ [A-Z]+/g,
    (_, draw) => `CSeq: ${pick(NUMBERS, draw)} ${pick(["INVITE", "BYE", "ACK", "X"], draw)}`,
  ),
];

/** A SIP message with one to three faults. */
export function corruptText(message: Buffer, draw: Draw): Buffer {
  let corruptedText = message;
  for (let n = Math.ceil(draw() * 3); n > 0; n--) corruptedText = pick(TEXT_CHANGES, draw)(corruptedText, draw);
  return corruptedText;
}

const HOME = /(?<![\w.-])127\.0\.0\.1(?![\w.-])/g;

/** True if a corrupted message names no new host: no packet or query may leave the loopback. */
export function isLocal(corruptedMessage: Buffer, original: Buffer): boolean {
  const [text, originalText] = [latin(corruptedMessage), latin(original)];
  const withoutHome = text.replaceAll(HOME, "").replaceAll(/SIP\/2\.0/g, "");
  return !/[^\s]\.[^\s]/.test(withoutHome) && text.match(HOME)?.length === originalText.match(HOME)?.length;
}

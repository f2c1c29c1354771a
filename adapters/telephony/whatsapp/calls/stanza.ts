import { isOneOf, type Jid, mayBeOneOf, readJid } from "./jid.ts";

/** A stanza about one of our calls. */
export type CallStanza =
  /**
   * One of the callee's devices is ringing. `device`: its number, 0 for the phone itself; undefined if the stanza does
   * not name it.
   */
  | { readonly type: "preaccept"; readonly device: number | undefined }
  /** A device has accepted. `address`: the device's address; undefined if the stanza does not name it. */
  | { readonly type: "accept"; readonly address: string | undefined }
  /** A device has rejected the call. `device`: as in `preaccept`. */
  | { readonly type: "reject"; readonly device: number | undefined; readonly reason: string | undefined }
  | { readonly type: "terminate"; readonly reason: string | undefined }
  /** WhatsApp has accepted the offer. `devices`: the callee's devices that ring; empty if unknown. */
  | { readonly type: "offer_accepted"; readonly devices: readonly number[] }
  /** WhatsApp has refused the offer. */
  | { readonly type: "offer_refused"; readonly code: string };

/** The call that stanzas are read for. */
export interface CallIdentity {
  readonly callId: string;
  /** Addresses of the callee: the phone number, and the address that hides it. */
  readonly addresses: readonly string[];
}

/** Maximum number of a stanza's children that are read. */
const MAX_CHILDREN = 64;
/** Maximum number of devices per callee. */
const MAX_DEVICES = 64;
const MAX_WORD = 64;

/**
 * Reads what an incoming stanza reports about our call; returns undefined for any other stanza. A stanza may have any
 * shape; reading it never throws.
 */
export function readCallStanza(stanza: unknown, call: CallIdentity): CallStanza | undefined {
  try {
    const node = nodeOf(stanza);
    if (node?.tag === "call") return readSignal(node, call);
    if (node?.tag === "ack") return readAck(node, call);
  } catch {
    // a getter or a proxy that throws
  }
  return undefined;
}

/** True if a stanza can concern a call. */
export function isAboutCalls(stanza: unknown): boolean {
  try {
    const tag = nodeOf(stanza)?.tag;
    return tag === "call" || tag === "ack";
  } catch {
    return false;
  }
}

/** True for the reason given when a person rejects, which applies to all devices. */
export function isDeclined(reason: string | undefined): reason is undefined | "declined" {
  return reason === undefined || reason === "declined";
}

/** True for a stanza after which none of the callee's phones is ringing or connected. */
export function endsForCallee(stanza: CallStanza): boolean {
  if (stanza.type === "reject") return isDeclined(stanza.reason);
  return stanza.type === "terminate" || stanza.type === "offer_refused";
}

function readSignal(node: Node, { callId }: CallIdentity): CallStanza | undefined {
  for (const child of childrenOf(node)) {
    if (child.attr("call-id") !== callId) continue;
    const from = node.attr("from");
    const device = readJid(from)?.device;
    switch (child.tag) {
      case "preaccept":
        return { type: "preaccept", device };
      case "accept":
        return { type: "accept", address: device === undefined ? undefined : from };
      case "reject":
        return { type: "reject", device, reason: wordOf(child.attr("reason")) };
      case "terminate":
        return { type: "terminate", reason: wordOf(child.attr("reason")) };
    }
  }
  return undefined;
}

/** Reads an ack. Only the ack of an accepted offer names the call, in its relays; a refusal names only the sender. */
function readAck(node: Node, { callId, addresses }: CallIdentity): CallStanza | undefined {
  if (node.attr("class") !== "call" || node.attr("type") !== "offer") return undefined;
  const children = childrenOf(node);
  const namedId = node.attr("call-id") ?? children.find(({ tag }) => tag === "relay")?.attr("call-id");
  const callee = addresses.flatMap((address) => readJid(address) ?? []);
  const from = readJid(node.attr("from"));
  if (namedId === undefined ? from && !mayBeOneOf(callee, from) : namedId !== callId) return undefined;
  const error = node.attr("error");
  if (error !== undefined) return { type: "offer_refused", code: wordOf(error) ?? "unknown" };
  return { type: "offer_accepted", devices: devicesOf(children, callee) };
}

/** The callee's devices among a call's participants, which include our own device. */
function devicesOf(children: readonly Node[], callee: readonly Jid[]): readonly number[] {
  const devices = new Set<number>();
  for (const child of children) {
    const tag = child.tag === "relay" ? "participant" : child.tag === "user" ? "device" : undefined;
    if (tag === undefined) continue;
    for (const entry of childrenOf(child)) {
      const jid = entry.tag === tag ? readJid(entry.attr("jid")) : undefined;
      if (jid && isOneOf(callee, jid) && devices.size < MAX_DEVICES) devices.add(jid.device);
    }
  }
  return [...devices];
}

interface Node {
  readonly tag: string;
  attr(name: string): string | undefined;
  readonly content: unknown;
}

function nodeOf(value: unknown): Node | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { tag, attrs, content } = value as Readonly<Record<string, unknown>>;
  if (typeof tag !== "string") return undefined;
  const attr = (name: string): string | undefined => {
    if (typeof attrs !== "object" || attrs === null || !Object.hasOwn(attrs, name)) return undefined;
    const text = (attrs as Readonly<Record<string, unknown>>)[name];
    return typeof text === "string" ? text : undefined;
  };
  return { tag, attr, content };
}

function childrenOf({ content }: Node): Node[] {
  if (!Array.isArray(content)) return [];
  return content.slice(0, MAX_CHILDREN).flatMap((child) => nodeOf(child) ?? []);
}

/** A protocol word that is safe to show: printable and short. */
function wordOf(text: string | undefined): string | undefined {
  return text !== undefined && /^[\w.:-]+$/.test(text) && text.length <= MAX_WORD ? text : undefined;
}

/** One stanza of WhatsApp's protocol, as a filter of incoming stanzas receives it. */
export interface FakeStanza {
  readonly tag: string;
  readonly attrs: Readonly<Record<string, string>>;
  readonly content?: Uint8Array | string | readonly FakeStanza[];
}

/** The call that a stanza is about. */
export interface StanzaOfCall {
  readonly callId: string;
  /** JID of the device that sends the stanza. */
  readonly from: string;
  /** JID of the caller. */
  readonly creator: string;
}

/** A `<call>` stanza with one child: `offer`, `preaccept`, `accept`, `reject` or `terminate`. */
export function callStanza(
  tag: string,
  id: string,
  call: StanzaOfCall,
  attrs: Record<string, string> = {},
): FakeStanza {
  const child = { tag, attrs: { "call-id": call.callId, "call-creator": call.creator, ...attrs } };
  return { tag: "call", attrs: { id, from: call.from }, content: [child] };
}

/** The `<ack>` to an offer that the network refuses. This ack does not name the call. */
export function offerRefusal(id: string, { from }: StanzaOfCall, error: number): FakeStanza {
  return { tag: "ack", attrs: { id, from, class: "call", type: "offer", error: String(error) } };
}

/** The `<call>` stanza of an offer. @param token the callee's privacy token; undefined if the callee is a stranger */
export function offerStanza(
  id: string,
  to: string,
  { callId, creator }: StanzaOfCall,
  token: Uint8Array | undefined,
): FakeStanza {
  const privacy: FakeStanza[] = token === undefined ? [] : [{ tag: "privacy", attrs: {}, content: token }];
  const audio: FakeStanza = { tag: "audio", attrs: { enc: "opus", rate: "16000" } };
  const offer = { tag: "offer", attrs: { "call-id": callId, "call-creator": creator }, content: [...privacy, audio] };
  return { tag: "call", attrs: { id, to }, content: [offer] };
}

/** The `<call>` stanza with which a caller ends a call. @param to the callee, or the device that has accepted */
export function terminateStanza(id: string, to: string, { callId, creator }: Omit<StanzaOfCall, "from">): FakeStanza {
  const child = { tag: "terminate", attrs: { "call-id": callId, "call-creator": creator } };
  return { tag: "call", attrs: { id, to }, content: [child] };
}

/**
 * The `<ack>` to an offer that the network accepts: its relay names the call.
 * @param devices JIDs of the callee's devices
 * @param list part of the ack that lists them
 */
export function offerAck(
  id: string,
  call: StanzaOfCall,
  devices: readonly string[],
  list: "relay" | "user" | "none",
): FakeStanza {
  const jidEntries = (tag: string, jids: readonly string[]) => jids.map((jid): FakeStanza => ({ tag, attrs: { jid } }));
  const relay: FakeStanza = {
    tag: "relay",
    attrs: { "call-id": call.callId, "call-creator": call.creator, uuid: id },
    content: jidEntries("participant", list === "relay" ? [call.creator, ...devices] : [call.creator]),
  };
  const user: FakeStanza = { tag: "user", attrs: { jid: call.from }, content: jidEntries("device", devices) };
  const attrs = { id, from: call.from, class: "call", type: "offer" };
  return { tag: "ack", attrs, content: list === "user" ? [relay, user] : [relay] };
}

/** The child of a stanza; undefined if it has none. */
export function childOf(stanza: FakeStanza): FakeStanza | undefined {
  const { content } = stanza;
  return typeof content === "object" && !(content instanceof Uint8Array) ? content[0] : undefined;
}

/** One stanza of WhatsApp's protocol, as an incoming stanza filter gets it. */
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

/**
 * The `<ack>` to an offer. Only an accepted offer's ack names the call, and the devices that take part: in its relays.
 * @param devices JIDs of the callee's devices
 */
export function offerAck(id: string, call: StanzaOfCall, devices: readonly string[], error?: number): FakeStanza {
  const attrs = { id, from: call.from, class: "call", type: "offer" };
  if (error !== undefined) return { tag: "ack", attrs: { ...attrs, error: String(error) } };
  const content = [call.creator, ...devices].map((jid): FakeStanza => ({ tag: "participant", attrs: { jid } }));
  const relay = { tag: "relay", attrs: { "call-id": call.callId, "call-creator": call.creator, uuid: id }, content };
  return { tag: "ack", attrs, content: [relay] };
}

/** The child of a stanza; undefined if it has none. */
export function childOf(stanza: FakeStanza): FakeStanza | undefined {
  const { content } = stanza;
  return typeof content === "object" && !(content instanceof Uint8Array) ? content[0] : undefined;
}

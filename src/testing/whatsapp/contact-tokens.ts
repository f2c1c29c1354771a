import { decodeRecord, encodeRecord } from "../../base/record-format.ts";
import type { WhatsAppClientContext } from "../../ports/whatsapp-client.ts";
import { childOf, type FakeStanza } from "./stanza.ts";

/** The privacy token that a contact gives to an owner's number: a caller who presents it is not a stranger. */
export function contactToken(contact: string, owner: string): Uint8Array {
  return new TextEncoder().encode(`${contact} knows ${owner}`);
}

/** The history of the phone that a new link downloads: its conversations, with the tokens of the contacts. */
export function historyStanza(id: string, from: string, tokens: ReadonlyMap<string, Uint8Array>): FakeStanza {
  const conversations = [...tokens].map(
    ([jid, content]): FakeStanza => ({ tag: "conversation", attrs: { jid }, content }),
  );
  return { tag: "message", attrs: { id, from }, content: [{ tag: "history", attrs: {}, content: conversations }] };
}

/** The notification of one token. */
export function tokenStanza(id: string, from: string, content: Uint8Array): FakeStanza {
  const token: FakeStanza = { tag: "token", attrs: { type: "trusted_contact" }, content };
  return { tag: "notification", attrs: { id, from, type: "privacy_token" }, content: [token] };
}

/**
 * The privacy tokens that a client keeps in its records, in the place that `whatsappStore` uses, by the address under
 * which they arrived. Like the real client, it finds a token only under the address that it calls.
 */
export class ContactTokens {
  readonly #records: WhatsAppClientContext["records"];
  readonly #prefix: string;

  constructor({ records, sessionId }: WhatsAppClientContext) {
    this.#records = records;
    this.#prefix = `${encodeURIComponent(sessionId)}/privacy-token/`;
  }

  /** The token of a contact; undefined for a stranger, and while the records cannot be read. */
  async tokenOf(jid: string): Promise<Uint8Array | undefined> {
    const [bytes] = await this.#records.get([this.#key(jid)]).catch(() => []);
    const record = bytes && (decodeRecord(bytes) as { readonly tcToken?: Uint8Array });
    return record?.tcToken;
  }

  /**
   * Keeps the tokens of a stanza, if it has any.
   * @param takesHistory true if the client takes the history of a new link
   */
  async store(stanza: FakeStanza, takesHistory: boolean): Promise<void> {
    const child = childOf(stanza);
    const tokens = new Map<string, Uint8Array>();
    if (stanza.attrs.type === "privacy_token" && child?.content instanceof Uint8Array)
      tokens.set(stanza.attrs.from ?? "", child.content);
    if (child?.tag === "history" && takesHistory && Array.isArray(child.content))
      for (const { attrs, content } of child.content as readonly FakeStanza[])
        if (content instanceof Uint8Array) tokens.set(attrs.jid ?? "", content);
    if (tokens.size === 0) return;
    const entries = [...tokens].map(([jid, tcToken]) => [this.#key(jid), encodeRecord({ jid, tcToken })] as const);
    await this.#records.set(new Map(entries));
  }

  #key(jid: string): string {
    return this.#prefix + encodeURIComponent(jid);
  }
}

import { Refusal } from "../../../../src/domain/refusal.ts";
import type { SocketHandlers } from "../../../../src/ports/web.ts";
import { BrowserPhone, PHONE_CLOSE_CODES } from "./browser-phone.ts";
import { RingGroup } from "./ring-group.ts";

/** Maximum number of open phones per user. */
export const MAX_PHONES = 8;
/** Maximum number of phone connections per user, including those that are opening or closing. */
const MAX_USER_CONNECTIONS = 16;
/** Maximum number of phone connections for all users together. */
const MAX_CONNECTIONS = 256;

/** The phones that are open in browsers, by user and number. */
export class Phones {
  readonly #groups = new Map<string, Map<string, RingGroup>>();
  /** Connections by user, from the acceptance of a WebSocket until it has closed. */
  readonly #connections = new Map<string, number>();
  #isClosed = false;

  /** The phones of a number; undefined if none is open and none rings, so that the number behaves like any other. */
  at(userId: string, number: string): RingGroup | undefined {
    return this.#groups.get(userId)?.get(number);
  }

  /**
   * Handlers for the WebSocket of a page that becomes a phone with this number. The connection counts towards the
   * limits until it is closed.
   * @throws {Refusal} `server_busy`: too many are connected
   */
  connect(userId: string, number: string): SocketHandlers {
    const endCount = this.#countConnection(userId);
    let phone: BrowserPhone | undefined;
    return {
      open: (socket) => {
        if (this.#isClosed) socket.close(PHONE_CLOSE_CODES.stopping, "the server is stopping");
        else if (this.#openPhones(userId) >= MAX_PHONES)
          socket.close(PHONE_CLOSE_CODES.tooMany, `you have ${MAX_PHONES} phones open: close one of them`);
        else {
          const group = this.#group(userId, number);
          phone = new BrowserPhone(socket, group);
          phone.send({ type: "ready", number });
          group.add(phone);
        }
      },
      message: (_, data) => phone?.receive(data),
      close: (_, code) => {
        endCount();
        phone?.onClose(code);
      },
    };
  }

  /** Closes all phones; calls on them end. */
  close(): void {
    this.#isClosed = true;
    for (const groups of [...this.#groups.values()])
      for (const { phones } of [...groups.values()])
        for (const phone of [...phones]) phone.close(PHONE_CLOSE_CODES.stopping, "the server is stopping");
  }

  /** Counts one of the user's connections, and returns a function that ends the count, once. */
  #countConnection(userId: string): () => void {
    let total = 0;
    for (const count of this.#connections.values()) total += count;
    const count = this.#connections.get(userId) ?? 0;
    if (count >= MAX_USER_CONNECTIONS || total >= MAX_CONNECTIONS)
      throw new Refusal("server_busy", "too many phones are connected; close one and try again");
    this.#connections.set(userId, count + 1);
    let isConnected = true;
    return () => {
      if (!isConnected) return;
      isConnected = false;
      const remainingCount = (this.#connections.get(userId) ?? 1) - 1;
      if (remainingCount > 0) this.#connections.set(userId, remainingCount);
      else this.#connections.delete(userId);
    };
  }

  #openPhones(userId: string): number {
    let count = 0;
    for (const { phones } of this.#groups.get(userId)?.values() ?? []) count += phones.size;
    return count;
  }

  #group(userId: string, number: string): RingGroup {
    const existing = this.at(userId, number);
    if (existing) return existing;
    const groups = this.#groups.get(userId) ?? new Map<string, RingGroup>();
    const group = new RingGroup(() => {
      groups.delete(number);
      if (groups.size === 0) this.#groups.delete(userId);
    });
    this.#groups.set(userId, groups.set(number, group));
    return group;
  }
}

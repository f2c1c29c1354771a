import type { SocketHandlers } from "../../../../src/ports/web.ts";
import { BrowserPhone, PHONE_CLOSE_CODES } from "./browser-phone.ts";
import { RingGroup } from "./ring-group.ts";

/** Most open phones of one user. */
export const MOST_PHONES = 8;

/** The phones that are open in browsers, by user and number. */
export class Phones {
  readonly #groups = new Map<string, Map<string, RingGroup>>();
  #closed = false;

  /** The phones of a number; undefined if none is open and none rings, so that the number is like any other. */
  at(userId: string, number: string): RingGroup | undefined {
    return this.#groups.get(userId)?.get(number);
  }

  /** Handlers of the WebSocket of a page that becomes a phone with this number. */
  connect(userId: string, number: string): SocketHandlers {
    let phone: BrowserPhone | undefined;
    return {
      open: (socket) => {
        if (this.#closed) socket.close(PHONE_CLOSE_CODES.stopping, "the server is stopping");
        else if (this.#count(userId) >= MOST_PHONES)
          socket.close(PHONE_CLOSE_CODES.tooMany, `you have ${MOST_PHONES} phones open: close one of them`);
        else {
          const group = this.#group(userId, number);
          phone = new BrowserPhone(socket, group);
          phone.send({ type: "ready", number });
          group.add(phone);
        }
      },
      message: (_, data) => phone?.receive(data),
      close: (_, code) => phone?.closed(code),
    };
  }

  /** Closes all phones; calls on them end. */
  close(): void {
    this.#closed = true;
    for (const groups of [...this.#groups.values()])
      for (const { phones } of [...groups.values()])
        for (const phone of [...phones]) phone.close(PHONE_CLOSE_CODES.stopping, "the server is stopping");
  }

  #count(userId: string): number {
    let count = 0;
    for (const { phones } of this.#groups.get(userId)?.values() ?? []) count += phones.size;
    return count;
  }

  #group(userId: string, number: string): RingGroup {
    const known = this.at(userId, number);
    if (known) return known;
    const groups = this.#groups.get(userId) ?? new Map<string, RingGroup>();
    const group = new RingGroup(() => {
      groups.delete(number);
      if (groups.size === 0) this.#groups.delete(userId);
    });
    this.#groups.set(userId, groups.set(number, group));
    return group;
  }
}

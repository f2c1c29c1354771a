import { PHONE_NUMBER, PHONE_RULE } from "../../domain/numbers/phone-number.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { NetworkPages } from "../../ports/network-pages.ts";
import type { Reply, SocketHandlers } from "../../ports/web.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { CLOSE_CODES } from "../stream/dialect.ts";
import type { TokenWatches } from "../stream/token-watches.ts";

/**
 * Accepts the WebSocket of a page that acts as a phone of a network. Undefined if the network has no such phones.
 * @throws {Refusal} `demo_token_restricted`, `phone_number_invalid`, `upgrade_required`
 */
export function acceptPhone(context: RequestContext, pages: NetworkPages, watches: TokenWatches): Reply | undefined {
  const { caller, token } = context;
  if (caller.demoInstanceId !== undefined)
    throw new Refusal(
      "demo_token_restricted",
      "a demo token cannot open a phone: it would get calls of other instances",
    );
  const number = context.params.number ?? "";
  if (!PHONE_NUMBER.test(number))
    throw new Refusal("phone_number_invalid", `the number ${JSON.stringify(number.slice(0, 40))} ${PHONE_RULE}`);
  if (!context.canUpgrade)
    throw new Refusal("upgrade_required", "the request is not a WebSocket handshake: connect with a WebSocket client");
  const handlers = pages.phone?.(caller.userId, number);
  if (handlers === undefined) return undefined;
  context.socketHandlers =
    token === undefined ? handlers : withTokenWatch(handlers, (onRevoked) => watches.watch(token, caller, onRevoked));
  return { status: 101, headers: {} };
}

/** The same handlers, for a WebSocket that closes once its token is no longer valid. */
function withTokenWatch(handlers: SocketHandlers, watch: (onRevoked: () => void) => () => void): SocketHandlers {
  let unwatch = (): void => {};
  let isClosed = false;
  return {
    open(socket) {
      unwatch = watch(() => {
        isClosed = true;
        socket.close(CLOSE_CODES.revoked, "the token was revoked or has expired");
        handlers.close?.(socket, CLOSE_CODES.revoked, "");
      });
      handlers.open?.(socket);
    },
    message(socket, data) {
      if (!isClosed) handlers.message(socket, data);
    },
    close(socket, code, reason) {
      unwatch();
      if (!isClosed) handlers.close?.(socket, code, reason);
    },
  };
}

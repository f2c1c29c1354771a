import type { NetworkPages } from "../../ports/pages.ts";
import { acceptPhone } from "../phone-socket.ts";
import type { Route } from "../route.ts";
import type { TokenWatches } from "../stream/token-watches.ts";

/** The WebSocket of a page that is a phone of a network. */
export function phoneRoute(pages: NetworkPages, watches: TokenWatches): Route {
  return {
    method: "GET",
    path: `/${pages.prefix}/phones/:number`,
    operation: {
      id: `${pages.prefix}Phone`,
      tag: "Calls",
      summary: `Be a phone of the ${pages.prefix} over a WebSocket`,
      description: "Your calls to the number ring here: JSON messages, and 16-bit PCM both ways in binary ones.",
      access: "call",
      cost: ["sockets"],
      path: { number: "The number of the phone, E.164." },
      answers: { 101: { description: "Switching to WebSocket." } },
      problems: ["phone_number_invalid", "demo_token_restricted", "upgrade_required", "server_busy"],
    },
    run: async (context) => acceptPhone(context, pages, watches),
  };
}

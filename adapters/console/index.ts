import { fallbackReply } from "../../src/http/replies/failure.ts";
import { toResponse } from "../../src/http/replies/reply.ts";
import { pathAfter } from "../../src/http/requests/request-context.ts";
import { withoutFragment } from "../../src/http/requests/without-fragment.ts";
import type { Reply, RequestLike } from "../../src/ports/web.ts";
import type { Ringport } from "../../src/ringport.ts";
import type { ConsoleOptions } from "./server/console-options.ts";
import type { ConsoleServer } from "./server/console-server.ts";

export type { ConsoleOptions, ConsoleSignIn } from "./server/console-options.ts";

/**
 * The same Ringport, extended by the console at `/console`: `await serve(withConsole(createRingport()))`. The front
 * page, `/`, redirects there. The console is loaded on the first request to it.
 * @throws {TypeError} `signIn` is missing although the Ringport has the option `authenticate`, which does not accept
 * accounts' tokens
 */
export function withConsole<App extends Ringport>(ringport: App, options: ConsoleOptions = {}): App {
  if (!ringport.acceptsOwnTokens && !options.signIn)
    throw new TypeError(
      "signIn is missing: a Ringport with the option authenticate accepts no tokens that people make in the console; pass withConsole the sessions of your program as signIn",
    );
  let loading: Promise<ConsoleServer> | undefined;

  function console(): Promise<ConsoleServer> {
    loading ??= import("./server/console-server.ts")
      .then(({ consoleServer }) => consoleServer(ringport, options))
      .catch((error: unknown) => {
        loading = undefined; // the next request tries again
        throw error;
      });
    return loading;
  }

  const lastResortReply = (cause: unknown): Reply => fallbackReply(cause, options.log);
  const pathOf = ({ url }: Pick<RequestLike, "url">): string => pathAfter(url, ringport.basePath);
  const isConsole = (path: string): boolean => path === "/console" || path.startsWith("/console/");
  const isConsoleOrRoot = (path: string): boolean => path === "/" || isConsole(path);
  const reply = (request: RequestLike): Promise<Reply> =>
    console()
      .then((server) => server.handle(request))
      .catch(lastResortReply);

  return {
    ...ringport,
    handle: (request, principal) =>
      isConsoleOrRoot(pathOf(request)) ? reply(request) : ringport.handle(request, principal),
    claims: async (request) => isConsole(pathOf(request)) || ringport.claims(request),
    fetch: async (request) =>
      isConsoleOrRoot(pathOf(request)) ? toResponse(await reply(withoutFragment(request))) : ringport.fetch(request),
    upgrade: (request, principal) =>
      isConsole(pathOf(request))
        ? console()
            .then((server) => server.upgrade(request))
            .catch(lastResortReply)
        : ringport.upgrade(request, principal),
  };
}

/** The part of a WHATWG `Request` that the core uses; server adapters may pass less than a whole Request. */
export interface RequestLike {
  readonly method: string;
  /** Absolute URL. */
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  /** The body as it arrives; null when there is none. Read at most once. */
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** A response before it is a `Response`: adapters that own the socket write it directly. */
export interface Reply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Record<string, string>;
  /** One that comes in pieces is iterated at most once, no faster than the client takes it. It may throw: then it breaks off. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

/** What a server adapter's WebSocket offers. */
export interface Socket {
  send(data: string | Uint8Array): void;
  /** Bytes accepted by `send` that have not left yet. */
  readonly bufferedAmount: number;
  /** Resolves when the buffer has emptied, or the socket has closed. */
  drained(): Promise<void>;
  close(code?: number, reason?: string): void;
  /** Stops reading until {@link resume}, so that the client has to wait. Left out where the runtime cannot. */
  pause?(): void;
  resume?(): void;
}

/** What is done with an accepted WebSocket. */
export interface SocketHandlers {
  open?(socket: Socket): void;
  message(socket: Socket, data: string | Uint8Array): void;
  close?(socket: Socket, code: number, reason: string): void;
}

/** An application that a server adapter can serve. */
export interface WebApp {
  /** Answers with plain data. Never rejects. */
  handle(request: RequestLike): Promise<Reply>;
  /**
   * Whether the path is one of its own, for a program that it is mounted in: what is not, the program may answer
   * itself. Reads the URL and nothing else. Never rejects.
   */
  claims(request: Pick<RequestLike, "url">): Promise<boolean>;
  /** Answers a WHATWG request, for every framework that speaks them. */
  fetch(request: Request): Promise<Response>;
  /** Decides about a WebSocket: a `Reply` is a refusal to be sent before the handshake. */
  upgrade(request: RequestLike): Promise<Reply | SocketHandlers>;
}

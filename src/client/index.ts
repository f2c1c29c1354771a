// A typed client of the HTTP interface, for browsers, Node, Bun and Deno.

export { AnotherCallActive } from "./another-call-active.ts";
export type { AudioClient, AudioUpload, NewAudioFile } from "./audio-client.ts";
export type {
  AddTargetsOptions,
  BatchesClient,
  ListBatchesQuery,
  ListTargetsQuery,
  TargetSource,
} from "./batches-client.ts";
export type { CallsClient, GetCallOptions, ListCallsQuery, Placement, TicketOptions } from "./calls-client.ts";
export type { ConsentsClient, ListConsentsQuery } from "./consents-client.ts";
export type { Client, ListEventsQuery, ListVoicesOptions } from "./create-client.ts";
export { createClient } from "./create-client.ts";
export type { ClientOptions, CreateOptions, FetchRequest, RequestOptions } from "./http-transport.ts";
export type { GetInstanceOptions, InstancesClient, ListInstancesQuery, QrCode } from "./instances-client.ts";
export type { LogPage, Page, PageQuery } from "./list-pages.ts";
export type { ClientErrorCode } from "./ringport-error.ts";
export { RingportError } from "./ringport-error.ts";
export type { CallListening, ListenItem, ListenOptions } from "./stream/call-listening.ts";
export type { CallStream, StreamEnd, StreamOptions } from "./stream/call-stream.ts";
export type { WebSocketConstructor } from "./stream/stream-connection.ts";
export type { StreamCallEvent, StreamEvent } from "./stream/stream-messages.ts";
export type { MarkEnd } from "./stream/stream-replies.ts";
export type * from "./views.ts";
export type { WaitForCallOptions } from "./wait-for-call.ts";
export type { ListDeliveriesQuery, WebhooksClient } from "./webhooks-client.ts";

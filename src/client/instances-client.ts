import type { CreateInstanceInput, UpdateInstanceInput } from "../domain/inputs.ts";
import { allItems, type Page, type PageQuery } from "./pages.ts";
import type { CreateOptions, RequestOptions, Transport } from "./transport.ts";
import type { Instance, InstanceDetails, LinkingCode } from "./views.ts";

/** Options of the reading of an instance. */
export interface GetInstanceOptions extends RequestOptions {
  /** Adds how the line is doing. */
  readonly expand?: readonly "connection"[] | undefined;
}

/** A QR code that links a phone number. */
export interface QrCode {
  /** Base64 of a PNG image. */
  readonly pngBase64: string;
  /** What to do with it, for a person. */
  readonly message: string;
  /** When to ask for the next one, RFC 3339; null where the server does not say. */
  readonly expiresAt: string | null;
  /** Counts the codes of one linking. */
  readonly sequence: number | null;
}

/** The phone numbers of the token's user. All methods throw `RingportError`. */
export interface InstancesClient {
  create(input: CreateInstanceInput, options?: CreateOptions): Promise<Instance>;
  /** All instances, newest first; `limit` is the size of the pages that are read. */
  list(query?: PageQuery, options?: RequestOptions): AsyncGenerator<Instance, void, undefined>;
  /** One page of them; without `limit` it holds all. */
  page(query?: PageQuery, options?: RequestOptions): Promise<Page<Instance>>;
  /** An instance with its active calls. */
  get(id: string, options?: GetInstanceOptions): Promise<InstanceDetails>;
  /** Changes what the input names; a caller is for calls that are created from now on. */
  update(id: string, input: UpdateInstanceInput, options?: RequestOptions): Promise<Instance>;
  /** The QR code that links a phone number; codes rotate, so ask again until the instance is linked. */
  configure(id: string, options?: RequestOptions): Promise<LinkingCode>;
  /** The same code with the time when the next one takes its place. */
  qrCode(id: string, options?: RequestOptions): Promise<QrCode>;
  /** Ends its call, unlinks the number and erases its credentials, for good. */
  delete(id: string, options?: RequestOptions): Promise<void>;
}

const PAGE = 100;

export function instancesClient(transport: Transport): InstancesClient {
  const root = "/v1/instances";
  const one = (id: string) => `${root}/${encodeURIComponent(id)}`;
  const page: InstancesClient["page"] = (query = {}, options) => transport.page(root, { ...query }, options);
  return {
    create: async (input, options) =>
      (await transport.post<Instance>(root, input, options?.idempotencyKey, options)).body,
    list: ({ limit = PAGE, cursor } = {}, options) => allItems((cursor) => page({ limit, cursor }, options), cursor),
    page,
    get: (id, options) => transport.get(one(id), { expand: options?.expand }, options),
    update: (id, input, options) => transport.patch(one(id), input, options),
    configure: (id, options) => transport.get(`${one(id)}/configure`, {}, options),
    async qrCode(id, options) {
      const { body, headers } = await transport.getAnswer<LinkingCode>(`${one(id)}/configure`, options);
      const sequence = headers.get("qr-sequence");
      return {
        pngBase64: body.qrCodeBase64,
        message: body.message,
        expiresAt: headers.get("qr-expires-at"),
        sequence: sequence === null ? null : Number(sequence),
      };
    },
    delete: (id, options) => transport.delete(one(id), options),
  };
}

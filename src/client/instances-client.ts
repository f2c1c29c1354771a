import type { CreateInstanceInput, UpdateInstanceInput } from "../domain/instances/instance-input.ts";
import type { PairingInput } from "../domain/instances/pairing-input.ts";
import type { CreateOptions, RequestOptions, Transport } from "./http-transport.ts";
import { allItems, type Page, type PageQuery } from "./list-pages.ts";
import type { Instance, InstanceDetails, LinkingCode, LinkPage, PairingCode } from "./views.ts";

/** Options of {@link InstancesClient.get}. */
export interface GetInstanceOptions extends RequestOptions {
  /** Adds the state of the line. */
  readonly expand?: readonly "connection"[] | undefined;
}

/** Selects a page of the instances. */
export interface ListInstancesQuery extends PageQuery {
  /** Adds the state of each line. */
  readonly expand?: readonly "connection"[] | undefined;
}

/** A QR code that links a phone number. */
export interface QrCode {
  /** Base64 of a PNG image. */
  readonly pngBase64: string;
  /** Instructions for the person who scans the code. */
  readonly message: string;
  /** Time at which to request the next code, RFC 3339; null if the server does not send it. */
  readonly expiresAt: string | null;
  /** Number of the code within one linking; null if the server does not send it. */
  readonly sequence: number | null;
  /** URL of the page behind the code, or of a page that shows the code; null if the server sends none. */
  readonly page: string | null;
}

/** The phone numbers of the token's user. All methods throw `RingportError`. */
export interface InstancesClient {
  create(input: CreateInstanceInput, options?: CreateOptions): Promise<Instance>;
  /** All instances, newest first, read in pages of `limit` instances. */
  list(query?: ListInstancesQuery, options?: RequestOptions): AsyncGenerator<Instance, void, undefined>;
  /** One page of the instances; all of them if `limit` is missing. */
  page(query?: ListInstancesQuery, options?: RequestOptions): Promise<Page<Instance>>;
  /** An instance with its active calls. */
  get(id: string, options?: GetInstanceOptions): Promise<InstanceDetails>;
  /** Changes the fields of the input; a caller applies to calls created from then on. */
  update(id: string, input: UpdateInstanceInput, options?: RequestOptions): Promise<Instance>;
  /** The QR code that links a phone number; codes rotate, so request it again until the instance is linked. */
  configure(id: string, options?: RequestOptions): Promise<LinkingCode>;
  /** The same code, with the time at which the next code replaces it. */
  qrCode(id: string, options?: RequestOptions): Promise<QrCode>;
  /** A code to type on the phone with this number instead of scanning one, if the network has such codes. */
  pairingCode(id: string, input: PairingInput, options?: RequestOptions): Promise<PairingCode>;
  /** A page that shows the current code, to send to the owner of the phone; it works for an hour. */
  linkPage(id: string, options?: RequestOptions): Promise<LinkPage>;
  /**
   * Unlinks the number: a live call ends, queued calls wait for the next number. Has no effect without a linked number.
   */
  unlink(id: string, options?: RequestOptions): Promise<Instance>;
  /** Ends the instance's call, unlinks the number and erases its credentials, permanently. */
  delete(id: string, options?: RequestOptions): Promise<void>;
}

const PAGE_SIZE = 100;

export function instancesClient(transport: Transport): InstancesClient {
  const root = "/v1/instances";
  const pathOf = (id: string) => `${root}/${encodeURIComponent(id)}`;
  const page: InstancesClient["page"] = (query = {}, options) => transport.page(root, { ...query }, options);
  return {
    create: async (input, options) =>
      (await transport.post<Instance>(root, input, options?.idempotencyKey, options)).body,
    list: ({ limit = PAGE_SIZE, cursor, expand } = {}, options) =>
      allItems((cursor) => page({ limit, cursor, expand }, options), cursor),
    page,
    get: (id, options) => transport.get(pathOf(id), { expand: options?.expand }, options),
    update: (id, input, options) => transport.patch(pathOf(id), input, options),
    configure: (id, options) => transport.get(`${pathOf(id)}/configure`, {}, options),
    async qrCode(id, options) {
      const { body, headers } = await transport.getResponse<LinkingCode>(`${pathOf(id)}/configure`, options);
      const sequence = headers.get("qr-sequence");
      return {
        pngBase64: body.qrCodeBase64,
        message: body.message,
        expiresAt: headers.get("qr-expires-at"),
        sequence: sequence === null ? null : Number(sequence),
        page: headers.get("qr-page"),
      };
    },
    pairingCode: async (id, input, options) =>
      (await transport.post<PairingCode>(`${pathOf(id)}/pairing-code`, input, undefined, options)).body,
    linkPage: async (id, options) =>
      (await transport.post<LinkPage>(`${pathOf(id)}/link-page`, {}, undefined, options)).body,
    unlink: async (id, options) =>
      (await transport.post<Instance>(`${pathOf(id)}/unlink`, {}, undefined, options)).body,
    delete: (id, options) => transport.delete(pathOf(id), options),
  };
}

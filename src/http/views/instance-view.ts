import * as v from "valibot";
import type { InstanceDetails as Details, Connection as Line, ListedInstance } from "../../application/use-cases.ts";
import type { Instance as StoredInstance } from "../../domain/instances/instance.ts";
import { LINE_CONDITIONS } from "../../domain/instances/line-flow.ts";
import type { View } from "../response-types.ts";
import { maybeTimestamp, timestamp } from "../timestamp.ts";
import { callerIdShape, callSummaryShape, callSummaryView } from "./call-view.ts";
import { instanceId, isoTime, phone, shape } from "./shape.ts";

const instance = {
  id: instanceId,
  name: v.string(),
  status: v.picklist(["CREATED", "CONFIGURED", "ACTIVE"]),
  metadata: v.record(v.string(), v.unknown()),
  callerId: v.optional(callerIdShape),
  created_at: isoTime,
  updated_at: isoTime,
};

export const connectionShape = shape("The line of an instance.", {
  state: v.picklist(["unlinked", "linking", "connecting", "online", "reconnecting", "offline"]),
  phone: v.nullable(phone),
  last_seen_at: v.pipe(v.nullable(isoTime), v.description("Time at which a probe last found the line online.")),
  reason: v.pipe(v.nullable(v.string()), v.description("Reason why the line is not online; null while it is.")),
  condition: v.pipe(
    v.nullable(v.picklist(LINE_CONDITIONS)),
    v.description("Information for the owner of the number besides the status; null if there is none."),
  ),
  condition_reason: v.pipe(
    v.optional(v.string()),
    v.description("A sentence about an online line's condition; omitted if there is none."),
  ),
  condition_until: v.pipe(
    v.optional(v.nullable(isoTime)),
    v.description("Time at which that condition ends; null if it is unknown."),
  ),
  provider: v.pipe(v.string(), v.description("The telephony provider of the instance.")),
  paused_until: v.pipe(
    v.optional(isoTime),
    v.description("Time until which its calls wait, for a pause of its number or a busy line; omitted if they do not."),
  ),
  pause_reason: v.optional(v.string()),
});

export const instanceShape = shape("An instance in a list, or in the response to its creation.", {
  ...instance,
  connection: v.optional(connectionShape),
});

export const instanceDetailsShape = shape("An instance with its active calls.", {
  ...instance,
  callQueue: v.pipe(v.array(callSummaryShape), v.description("The active calls, oldest first.")),
  connection: v.optional(connectionShape),
});

export const linkPageShape = shape("A page that shows the QR code of an instance to anyone who has its address.", {
  url: v.pipe(v.string(), v.description("Address of the page; no token is needed.")),
  expires_at: isoTime,
});

export const linkPageStateShape = shape("Content of the link page of an instance.", {
  name: v.pipe(v.string(), v.description("The name of the instance.")),
  linked: v.boolean(),
  phone: v.nullable(v.pipe(v.string(), v.description("The linked number, E.164."))),
  qrCodeBase64: v.nullable(
    v.pipe(v.string(), v.description("The current code as a PNG image, Base64; null once linked.")),
  ),
});

export const pairingCodeShape = shape("A code that links a phone number when it is typed on the phone.", {
  instanceId,
  pairingCode: v.string(),
  expires_at: isoTime,
  message: v.string(),
});

export const linkingCodeShape = shape("The QR code that links a phone number.", {
  instanceId,
  qrCodeBase64: v.pipe(v.string(), v.description("Base64 of a PNG image, without a data: prefix.")),
  message: v.string(),
});

/** An instance in a list, or in the response to its creation. Deleted instances are never shown. */
export function instanceView(instance: StoredInstance): View<"Instance"> {
  return {
    id: instance.id,
    name: instance.name,
    status: instance.status as View<"Instance">["status"],
    metadata: instance.metadata,
    ...(instance.callerId && { callerId: { ...instance.callerId } }),
    created_at: timestamp(instance.createdAt),
    updated_at: timestamp(instance.updatedAt),
  };
}

/** An instance in a list, with its line. */
export function connectedInstanceView(instance: ListedInstance): View<"Instance"> {
  return { ...instanceView(instance), connection: connectionView(instance.connection) };
}

/** An instance in the response to a read. */
export function instanceDetailsView(instance: Details, withConnection: boolean): View<"InstanceDetails"> {
  const view: View<"InstanceDetails"> = {
    ...instanceView(instance),
    callQueue: instance.callQueue.map(callSummaryView),
  };
  if (withConnection) view.connection = connectionView(instance.connection);
  return view;
}

function connectionView(connection: Line): View<"Connection"> {
  return {
    state: connection.state,
    phone: connection.phone,
    last_seen_at: maybeTimestamp(connection.lastSeenAt),
    reason: connection.reason,
    condition: connection.condition,
    provider: connection.provider,
    ...(connection.notice && {
      condition_reason: connection.notice.reason,
      condition_until: maybeTimestamp(connection.notice.until),
    }),
    ...(connection.pause && {
      paused_until: timestamp(connection.pause.until),
      pause_reason: connection.pause.reason,
    }),
  };
}

import type { ComponentChildren } from "preact";
import type { CallStatus } from "../../../../src/domain/calls/call.ts";
import type { InstanceStatus } from "../../../../src/domain/instances/instance.ts";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/status.ts";
import pt from "../dictionary/pt/status.ts";

const t = dictionary({ en, pt });

type Tone = "quiet" | "info" | "good" | "warn" | "bad";

/** The name of a state, in a colour. @param live true if its dot pulses, for a state in progress */
export function Badge({
  tone = "quiet",
  live = false,
  children,
}: {
  readonly tone?: Tone | undefined;
  readonly live?: boolean | undefined;
  readonly children: ComponentChildren;
}) {
  return <span class={`badge badge-${tone}${live ? " badge-live" : ""}`}>{children}</span>;
}

const CALL_TONES: Readonly<Record<CallStatus, readonly [Tone, boolean]>> = {
  QUEUED: ["info", false],
  RINGING: ["warn", true],
  IN_PROGRESS: ["good", true],
  COMPLETED: ["quiet", false],
  FAILED: ["bad", false],
};

/** A call's status, in words. */
export function CallBadge({ status }: { readonly status: CallStatus }) {
  const [tone, live] = CALL_TONES[status];
  return (
    <Badge tone={tone} live={live}>
      {t.value.call[status]}
    </Badge>
  );
}

const INSTANCE_TONES: Readonly<Record<InstanceStatus, Tone>> = {
  CREATED: "info",
  CONFIGURED: "warn",
  ACTIVE: "good",
  DELETED: "quiet",
};

/** An instance's status, in words. */
export function InstanceBadge({ status }: { readonly status: InstanceStatus }) {
  return <Badge tone={INSTANCE_TONES[status]}>{t.value.instance[status]}</Badge>;
}

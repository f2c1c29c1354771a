import type { BatchDetails, BatchTarget } from "../../../../../src/client/index.ts";
import { Badge } from "../../components/badge.tsx";
import { batchTexts as t } from "./batch-texts.ts";

type Look = readonly ["quiet" | "info" | "good" | "warn" | "bad", boolean?];

const BATCH_LOOKS: Readonly<Record<BatchDetails["status"], Look>> = {
  DRAFT: ["quiet"],
  SCHEDULED: ["info"],
  RUNNING: ["good", true],
  PAUSED: ["warn"],
  COMPLETED: ["quiet"],
  CANCELLED: ["bad"],
};

/** A batch's status, in words. */
export function BatchBadge({ status }: Pick<BatchDetails, "status">) {
  return <LookBadge look={BATCH_LOOKS[status]} text={t.value.status[status]} />;
}

const TARGET_LOOKS: Readonly<Record<BatchTarget["status"], Look>> = {
  INVALID: ["bad"],
  DUPLICATE: ["warn"],
  WAITING: ["info"],
  CALLING: ["good", true],
  COMPLETED: ["quiet"],
  FAILED: ["bad"],
  CANCELLED: ["quiet"],
};

/** A target's status, in words. */
export function TargetBadge({ status }: Pick<BatchTarget, "status">) {
  return <LookBadge look={TARGET_LOOKS[status]} text={t.value.target[status]} />;
}

function LookBadge({ look: [tone, live], text }: { readonly look: Look; readonly text: string }) {
  return (
    <Badge tone={tone} live={live}>
      {text}
    </Badge>
  );
}

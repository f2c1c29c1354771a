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

/** The status of a batch, in words. */
export function BatchBadge({ status }: Pick<BatchDetails, "status">) {
  const [tone, live] = BATCH_LOOKS[status];
  return (
    <Badge tone={tone} live={live}>
      {t.value.status[status]}
    </Badge>
  );
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

/** The status of a target, in words. */
export function TargetBadge({ status }: Pick<BatchTarget, "status">) {
  const [tone, live] = TARGET_LOOKS[status];
  return (
    <Badge tone={tone} live={live}>
      {t.value.target[status]}
    </Badge>
  );
}

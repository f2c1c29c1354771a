import * as v from "valibot";
import { characters, isObject, issueText, type Schema, storableText, visibleText } from "../input/input-checks.ts";
import { metadataSchema } from "../input/metadata-input.ts";
import type { Limits } from "../limits.ts";
import type { CallerId } from "../numbers/caller-id.ts";
import { type CallerIdInput, callerIdSchema } from "../numbers/caller-id-input.ts";
import type { Metadata } from "./instance.ts";

/** The body of `POST /v1/instances`. */
export interface CreateInstanceInput {
  name: string;
  metadata?: Metadata | undefined;
  provider?: string | undefined;
  /** The caller of the instance's calls, if the provider lets them choose. Default: the provider's own. */
  callerId?: CallerIdInput | undefined;
}

/** The body of `PATCH /v1/instances/:instanceId`; an omitted field keeps its value. */
export interface UpdateInstanceInput {
  name?: string | undefined;
  /** Replaces all metadata. */
  metadata?: Metadata | undefined;
  /** The caller of calls that are created from then on; null for the provider's own caller. */
  callerId?: CallerIdInput | null | undefined;
}

/** A checked body of `POST /v1/instances`. */
export type CheckedInstanceInput = Omit<CreateInstanceInput, "callerId"> & { callerId?: CallerId | undefined };

/** A checked body of `PATCH /v1/instances/:instanceId`. */
export type CheckedInstanceUpdate = Omit<UpdateInstanceInput, "callerId"> & { callerId?: CallerId | null | undefined };

const PROVIDER_LENGTH = 64;

/** The schemas of the bodies that create and update an instance. */
export interface InstanceSchemas {
  readonly createInstance: Schema<CheckedInstanceInput>;
  readonly updateInstance: Schema<CheckedInstanceUpdate>;
}

/** The schemas for these limits. */
export function instanceSchemas(limits: Limits): InstanceSchemas {
  const name = v.pipe(
    v.string(),
    v.trim(),
    characters(1, limits.nameLength, "the name"),
    storableText("the name"),
    visibleText("the name"),
  );
  const createInstance = v.object({
    name,
    metadata: v.optional(metadataSchema(limits)),
    provider: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(PROVIDER_LENGTH, issueText("too_long", `at most ${PROVIDER_LENGTH} characters are allowed`)),
      ),
    ),
    callerId: v.optional(
      callerIdSchema(
        "The number that its calls come from, or number, name and whether both are withheld, if the provider lets calls choose.",
      ),
    ),
  });
  const updateInstance = v.object({
    name: v.optional(name),
    metadata: v.optional(metadataSchema(limits)),
    callerId: v.optional(
      callerIdSchema(
        "As for the creation of an instance, for calls that are created from now on; null: the provider's own caller.",
        true,
      ),
    ),
  });
  return { createInstance, updateInstance };
}

/** The provider that a body names, whether or not it exists; undefined if there is no well-formed name. */
export function providerIn(body: unknown): string | undefined {
  const provider = isObject(body) ? body.provider : undefined;
  return typeof provider === "string" && provider.length <= PROVIDER_LENGTH ? provider : undefined;
}

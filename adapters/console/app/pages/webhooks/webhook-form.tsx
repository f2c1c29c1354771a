import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { CallEvent, Webhook } from "../../../../../src/client/index.ts";
import { Choice, SignalField } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/webhooks.ts";
import pt from "../../dictionary/pt/webhooks.ts";
import { type Action, useAction } from "../../shell/use-action.ts";
import { choiceOf, END_TYPES, type EventChoice, type EventGroup, typesOf } from "./event-types.ts";

const t = dictionary({ en, pt });

type EventType = CallEvent["type"];

/** Fields that the form sends. */
export interface WebhookFields {
  readonly url: string;
  readonly description: string | null;
  readonly events: EventType[] | null;
}

/** A form for a webhook's URL, description and events. */
export function WebhookForm({
  webhook,
  save,
  buttons,
}: {
  /** Undefined for a new webhook. */
  readonly webhook?: Webhook | undefined;
  readonly save: (fields: WebhookFields) => Promise<void>;
  readonly buttons: (action: Action<[]>) => ComponentChildren;
}) {
  const url = useSignal(webhook?.url ?? "");
  const description = useSignal(webhook?.description ?? "");
  const choice = useSignal<EventChoice>(choiceOf(webhook?.events ?? null));
  const types = useSignal<ReadonlySet<EventType>>(new Set(webhook?.events ?? END_TYPES));
  const isSelectionMissing = useSignal(false);
  const action = useAction(async () => {
    isSelectionMissing.value = choice.value === "chosen" && types.value.size === 0;
    if (isSelectionMissing.value) return;
    const events = choice.value === "all" ? null : choice.value === "ends" ? [...END_TYPES] : [...types.value];
    await save({ url: url.value.trim(), description: description.value.trim() || null, events });
  });
  const { form } = t.value;
  return (
    <Form action={action} buttons={buttons(action)}>
      <SignalField
        label={form.url}
        hint={form.urlHint}
        type="url"
        autocomplete="off"
        spellcheck={false}
        placeholder="https://example.com/ringport"
        required
        signal={url}
      />
      <SignalField
        label={form.description}
        hint={form.descriptionHint}
        autocomplete="off"
        maxLength={500}
        signal={description}
      />
      <EventFields choice={choice} types={types} />
      {isSelectionMissing.value && (
        <p class="fault" role="alert">
          {form.none}
        </p>
      )}
    </Form>
  );
}

function EventFields({
  choice,
  types,
}: {
  readonly choice: Signal<EventChoice>;
  readonly types: Signal<ReadonlySet<EventType>>;
}) {
  const { form } = t.value;
  const option = (value: EventChoice, title: string, explanation?: string) => (
    <Choice
      type="radio"
      name="events"
      title={title}
      explanation={explanation}
      checked={choice.value === value}
      onChange={() => {
        choice.value = value;
      }}
    />
  );
  return (
    <fieldset class="choices">
      <legend>{form.events}</legend>
      {option("all", form.all, form.allText)}
      {option("ends", form.ends, form.endsText)}
      {option("chosen", form.chosen)}
      {choice.value === "chosen" &&
        (["call", "number", "batch", "detail"] as const).map((group) => (
          <TypeGroup key={group} group={group} types={types} />
        ))}
    </fieldset>
  );
}

function TypeGroup({ group, types }: { readonly group: EventGroup; readonly types: Signal<ReadonlySet<EventType>> }) {
  const toggle = (type: EventType): void => {
    const next = new Set(types.value);
    if (!next.delete(type)) next.add(type);
    types.value = next;
  };
  return (
    <fieldset class="choices type-choices">
      <legend>{t.value.form.groups[group]}</legend>
      {typesOf(group).map((type) => (
        <label key={type} class="type-choice">
          <input type="checkbox" checked={types.value.has(type)} onChange={() => toggle(type)} />
          <code>{type}</code>
        </label>
      ))}
    </fieldset>
  );
}

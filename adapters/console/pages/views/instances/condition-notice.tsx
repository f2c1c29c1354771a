import type { InstanceDetails } from "../../../../../src/client/index.ts";
import { Notice } from "../../components/notice.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import pt from "../../dictionary/pt/instances.ts";

const t = dictionary({ en, pt });

type Condition = NonNullable<NonNullable<InstanceDetails["connection"]>["condition"]>;

/** What the owner of the number should know besides its status, and what to do about it. */
export function ConditionNotice({ condition }: { readonly condition: Condition }) {
  const { title, text } = t.value.condition[condition];
  return (
    <Notice tone={condition === "pairing_code" ? "info" : "warn"}>
      <strong>{title}</strong>
      <p>{text}</p>
    </Notice>
  );
}

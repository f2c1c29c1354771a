import type { Texts } from "../dictionary.ts";
import type en from "../en/overview.ts";

export default {
  title: "Início",
  lead: "Seus números, e o que acontece neles agora.",
} satisfies Texts<typeof en>;

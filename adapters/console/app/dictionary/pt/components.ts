import type { Texts } from "../dictionary.ts";
import type en from "../en/components.ts";

export default {
  copy: "Copiar",
  copied: "Copiado",
  copyNamed: (name: string) => `Copiar: ${name}`,
  notCopied: "O navegador não permitiu copiar. Selecione o texto e copie com o teclado.",
  loading: "Carregando…",
  retry: "Tentar de novo",
  close: "Fechar",
  cancel: "Cancelar",
  language: "Idioma",
} satisfies Texts<typeof en>;

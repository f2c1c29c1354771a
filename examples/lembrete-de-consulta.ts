#!/usr/bin/env node
// Lembretes de consulta: liga para cada paciente da agenda, um de cada vez, e mostra quem ouviu a mensagem.
//
//   Início   RINGPORT_TOKEN=rp_live_… node lembrete-de-consulta.ts [agenda.json]
//            com um servidor no ar em RINGPORT_URL (padrão: http://127.0.0.1:8080) e uma voz pt-BR: npx ringport voices --language pt-BR
import { readFile } from "node:fs/promises";
import process from "node:process";
import { createClient, RingportError } from "ringport/client";

interface Consulta {
  readonly paciente: string;
  /** Em E.164: +, código do país, DDD e número. */
  readonly telefone: string;
  readonly horario: string;
}

const { RINGPORT_URL: url = "http://127.0.0.1:8080", RINGPORT_TOKEN: token = "" } = process.env;
const ringport = createClient({ url, token });
const [arquivo] = process.argv.slice(2);
const agenda: readonly Consulta[] = arquivo
  ? JSON.parse(await readFile(arquivo, "utf8"))
  : [
      { paciente: "Ana", telefone: "+5511955550100", horario: "amanhã às nove horas" },
      { paciente: "Bruno", telefone: "+5511955550101", horario: "amanhã às dez e meia" },
    ];

const instancia = await ringport.instances.create({ name: "Clínica" });
// Leia o código com o celular, ou abra o endereço e aperte o botão. Num tronco SIP não é preciso fazer nada.
const codigo = await ringport.instances.configure(instancia.id).catch((erro: RingportError) => erro);
console.log(codigo.message);

for (const { paciente, telefone, horario } of agenda) {
  const text = `Olá, ${paciente}. Sua consulta é ${horario}. Até lá!`;
  try {
    const { call } = await ringport.calls.place({
      instanceId: instancia.id,
      type: "FIXED_TTS",
      target: { phoneNumber: telefone },
      tts: { text, voiceId: "pt-BR-1" },
    });
    const { status, outcome } = await ringport.waitForCall(call.id);
    const ouvido = Math.round(100 * (outcome.heard_ratio ?? 0));
    console.log(`${paciente}: ${status === "COMPLETED" ? `ouviu ${ouvido} %` : "não atendeu"} (${outcome.reason})`);
  } catch (erro) {
    if (!(erro instanceof RingportError)) throw erro;
    console.error(`${paciente}: a ligação foi recusada (${erro.code}): ${erro.message}`);
    process.exitCode = 1;
  }
}

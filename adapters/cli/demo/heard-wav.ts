/** What the callee of a simulated call heard, as the bytes of a WAV file. The page of the simulator is not part of the client. */
export async function heardWav(url: string, token: string, callId: string): Promise<Uint8Array> {
  const address = `${url}/simulator/calls/${callId}/heard.wav`;
  const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`${address} returned ${response.status} instead of the recording`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Time limit of a call of a node, and size of its response. */
const ANSWER_MS = 5_000
const ANSWER_BYTES = 64 * 1024

/** Calls of a node at a URL: text of a JSON-RPC request to that of its response, with bounds of time and bytes. */
export const httpCall =
  (url: string) =>
  async (request: string): Promise<string> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: request,
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength
      if (bytes > ANSWER_BYTES) throw new Error(`a response of more than ${ANSWER_BYTES} bytes`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString()
  }

/* `tandem health.cjs`, a program in the image alone: status 0 when the node answers 200 at /health, else 1 with the reason. */

const url = process.env['TANDEM_HEALTH_URL'] ?? 'http://127.0.0.1:8545/health'

const check = async (): Promise<string> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(4_000) })
    const { reason, number } = (await response.json()) as { readonly reason?: string; readonly number?: number }
    if (!response.ok) process.exitCode = 1
    return response.ok ? `healthy at block ${number}` : `${reason}`
  } catch (error) {
    process.exitCode = 1
    const { cause, message } = error as Error & { readonly cause?: { readonly code?: string } }
    return `${url} does not answer: ${cause?.code ?? message}`
  }
}

void check().then(text => process.stdout.write(`${text}\n`))

// Health check of the image: status 0 when the node answers 200 at /health, else 1 with the reason.
const url = process.env.TANDEM_HEALTH_URL ?? 'http://127.0.0.1:8545/health'
try {
  const response = await fetch(url, { signal: AbortSignal.timeout(4_000) })
  const { reason, number } = await response.json()
  process.stdout.write(response.ok ? `healthy at block ${number}\n` : `${reason}\n`)
  process.exitCode = response.ok ? 0 : 1
} catch (error) {
  process.stdout.write(`${url} does not answer: ${error.cause?.code ?? error.message}\n`)
  process.exitCode = 1
}

import { WebSocket } from 'ws'

/** Times at which heads arrive, milliseconds. */
export const followHeads = (url: string): { readonly times: number[]; close(): void } => {
  const times: number[] = []
  const socket = new WebSocket(url)
  socket.on('error', () => {})
  socket.on('open', () =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })),
  )
  socket.on('message', data => {
    if (String(data).includes('eth_subscription')) times.push(performance.now())
  })
  return { times, close: () => socket.terminate() }
}

/** Quantiles of the intervals between times. */
export const intervalText = (times: readonly number[]): string => {
  const intervals = times.slice(1).map((time, at) => time - (times[at] as number))
  const sorted = intervals.toSorted((a, b) => a - b)
  const at = (part: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0).toFixed(0)
  return `${sorted.length} intervals, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, greatest ${at(1)} ms`
}

import { readdirSync, readFileSync } from 'node:fs'

const CLOCK_TICKS = 100

const secondsOf = (stat: string): number => {
  const fields = stat.split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS
}

/** Processor time of a process's threads since their start, seconds by name. */
const threadSeconds = (pid: number): ReadonlyMap<string, number> => {
  const seconds = new Map<string, number>()
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${task}/stat`, 'latin1')
    const name = Number(task) === pid ? 'main' : stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
    seconds.set(name, (seconds.get(name) ?? 0) + secondsOf(stat))
  }
  return seconds
}

/** Begins to measure a process; the function it returns answers the shares of a core of all its threads and of the busiest. */
export const measureThreads = (pid: number): (() => string) => {
  const [before, began] = [threadSeconds(pid), performance.now()]
  return () => {
    const took = (performance.now() - began) / 1_000
    const shares = [...threadSeconds(pid)].map(
      ([name, seconds]) => [name, (seconds - (before.get(name) ?? 0)) / took] as const,
    )
    const whole = shares.reduce((sum, [, share]) => sum + share, 0)
    const busy = shares.filter(([, share]) => share >= 0.02).sort(([, a], [, b]) => b - a)
    return `node ${whole.toFixed(2)} cores (${busy.map(([name, share]) => `${name} ${share.toFixed(2)}`).join(', ')})`
  }
}

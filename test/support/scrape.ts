import { eventually } from './node-process.ts'

/** The samples of a Prometheus text: `name{labels}` to value. Throws on a line that is neither sample nor comment. */
const parseMetrics = (text: string): ReadonlyMap<string, number> => {
  const samples = new Map<string, number>()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# HELP ') || line.startsWith('# TYPE ')) continue
    const match = /^([a-z_][a-z0-9_]*(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*\})?) (NaN|[+-]?Inf|-?[0-9.e+-]+)$/.exec(
      line,
    )
    if (match === null) throw new Error(`no sample: ${line}`)
    samples.set(match[1] as string, Number(match[2]?.replace('Inf', 'Infinity')))
  }
  return samples
}

export const scrape = async (url: string | undefined): Promise<ReadonlyMap<string, number>> => {
  if (url === undefined) throw new Error('start the node with --metrics-port 0')
  const response = await fetch(url)
  if (response.status !== 200) throw new Error(`metrics: ${response.status}`)
  return parseMetrics(await response.text())
}

export const rssMegabytes = async (url: string | undefined): Promise<number> => {
  const bytes = (await scrape(url)).get('process_resident_memory_bytes')
  if (bytes === undefined) throw new Error('a node tells its memory')
  return bytes / 2 ** 20
}

/** Waits until every one of these samples is above zero, and returns all of them. */
export const eventuallyPositive = async (
  url: string | undefined,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  let silent: readonly string[] = names
  return eventually('samples above zero', async () => {
    const samples = await scrape(url)
    silent = names.filter(name => !((samples.get(name) ?? 0) > 0))
    return silent.length === 0 ? samples : undefined
  }).catch(error => {
    throw new Error(`still zero: ${silent.join(', ')}`, { cause: error })
  })
}

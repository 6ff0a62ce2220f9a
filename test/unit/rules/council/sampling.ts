/** Probability that of `drawn` out of `all` at least `atLeast` are of the `marked`. */
export const hypergeometricTail = (all: number, marked: number, drawn: number, atLeast: number): number => {
  let tail = 0
  for (let k = atLeast; k <= Math.min(drawn, marked); k++)
    tail += Math.exp(lnChoose(marked, k) + lnChoose(all - marked, drawn - k) - lnChoose(all, drawn))
  return tail
}

const lnChoose = (n: number, k: number): number => {
  if (k < 0 || k > n) return Number.NEGATIVE_INFINITY
  let sum = 0
  for (let i = 1; i <= k; i++) sum += Math.log(n - k + i) - Math.log(i)
  return sum
}

const COUNCILS = [40, 64, 100, 200, 256]
const SHARES = [0.12, 0.15, 0.2, 0.25, 0.33]
const CYCLE_MINUTES = 1

/** Probability that a sample of 31 has more than f = 10 faulty members, where a share of the council is faulty. */
const faultySample = (council: number, share: number): number =>
  hypergeometricTail(council, Math.floor(share * council), 31, 11)

/** Table of docs/design/council.md#sampling, as lines of Markdown. */
export const samplingTable = (): readonly string[] => {
  const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
  const shares = SHARES.map(share => `${Math.round(share * 100)} %`)
  const rule = (columns: number) => row(Array(columns).fill('---'))
  const everyCouncil = [
    row(['faulty or offline', ...shares]),
    rule(SHARES.length + 1),
    ...COUNCILS.map(council => {
      const cell = (share: number) => {
        const p = faultySample(council, share)
        return p < 1e-12 ? 'never' : `${p.toPrecision(2)}, ${duration(CYCLE_MINUTES / p)}`
      }
      return row([`council of ${council}`, ...SHARES.map(cell)])
    }),
  ]
  return everyCouncil
}

const duration = (minutes: number): string => {
  const units = [
    [525_600, 'years'],
    [1_440, 'days'],
    [60, 'hours'],
  ] as const
  for (const [size, name] of units) if (minutes >= 2 * size) return `${Math.round(minutes / size)} ${name}`
  return `${minutes < 10 ? minutes.toFixed(1) : Math.round(minutes)} minutes`
}

/** Fixed in CI; `SEED=7 npx vitest run --project property` takes another. fast-check prints the seed that fails. */
export const SEED = Number(process.env['SEED'] ?? 20_250_217)

/** `SEED=n` runs that seed alone, `SIM_SEEDS=n` so many; otherwise the first `count`. */
export const seedRange = (count: number): { readonly firstSeed: number; readonly count: number } => {
  const only = process.env['SEED']
  if (only !== undefined) return { firstSeed: Number(only), count: 1 }
  return { firstSeed: 1, count: Number(process.env['SIM_SEEDS'] ?? count) }
}

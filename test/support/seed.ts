/** Fixed in CI; `SEED=7 npx vitest run --project property` takes another. fast-check prints the seed that fails. */
export const SEED = Number(process.env['SEED'] ?? 20_250_217)

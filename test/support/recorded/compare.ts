import type { Json } from './cases.ts'

/** Members that may differ in their being there. */
export interface Tolerance {
  /** Ours alone. */
  readonly extra: readonly string[]
  /** Theirs alone. */
  readonly missing: readonly string[]
}

const isObject = (value: Json | undefined): value is { readonly [member: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

/** Differences of an answer from the recorded one, as lines of text. Codes and data of errors are compared, their texts are not: each client has its own. */
export const differences = (
  got: Json | undefined,
  want: Json | undefined,
  tolerance: Tolerance,
  at = 'answer',
): string[] => {
  if (isList(got) && isList(want)) {
    const length = got.length === want.length ? [] : [`${at}: ${got.length} items, want ${want.length}`]
    return [
      ...length,
      ...want.flatMap((item, i) => (i < got.length ? differences(got[i], item, tolerance, `${at}[${i}]`) : [])),
    ]
  }
  if (!isObject(got) || !isObject(want)) return got === want ? [] : [`${at}: ${show(got)}, want ${show(want)}`]
  const names = new Set([...Object.keys(got), ...Object.keys(want)])
  return [...names].flatMap(name => {
    if (!(name in want)) return tolerance.extra.includes(name) ? [] : [`${at}.${name}: ${show(got[name])} is too much`]
    if (!(name in got))
      return tolerance.missing.includes(name) ? [] : [`${at}.${name}: missing, want ${show(want[name])}`]
    if (name === 'error' && isObject(got[name]) && isObject(want[name]))
      return differences(textless(got[name]), textless(want[name]), tolerance, `${at}.error`)
    return differences(got[name], want[name], tolerance, `${at}.${name}`)
  })
}

const textless = ({ message, ...rest }: { readonly [member: string]: Json }): Json =>
  // An error without a text is no error object.
  typeof message === 'string' ? rest : { ...rest, message: message ?? null }

const show = (value: Json | undefined): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 100 ? `${text.slice(0, 97)}...` : text
}

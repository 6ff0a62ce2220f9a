import { membersOf } from './rows.ts'

/* Types of docs/interface.md, as the cells of its tables write them. */

const hexOf = (bytes: string): RegExp => new RegExp(`^0x([0-9a-f]{2})${bytes}$`)
const isText = (value: unknown, pattern: RegExp): boolean => typeof value === 'string' && pattern.test(value)

const SCALARS: Readonly<Record<string, (value: unknown) => boolean>> = {
  QUANTITY: value => isText(value, /^0x(0|[1-9a-f][0-9a-f]*)$/),
  DATA: value => isText(value, hexOf('*')),
  string: value => isText(value, /./),
  boolean: value => typeof value === 'boolean',
  number: value => typeof value === 'number' && value >= 0,
  'sync status': value => typeof value === 'object' && value !== null && 'currentBlock' in value,
  object: value => typeof value === 'object' && value !== null && !Array.isArray(value),
  list: value => Array.isArray(value),
  null: value => value === null,
  false: value => value === false,
}

/** Sections whose members an object has, by the name of its type. */
const OBJECTS: Readonly<Record<string, readonly string[]>> = {
  block: ['Block'],
  transaction: ['Transaction'],
  receipt: ['Receipt'],
  'consensus block': ['Block', 'Consensus block'],
  'chain configuration': ['Chain configuration'],
}

/** Returns a member by its path; undefined when it is absent. */
export const memberAt = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], value)

const mayBeAbsent = (value: string): boolean => /\babsent\b|\bonly\b/.test(value)

/** Returns the problem of one member of an object, by its row; undefined when it fits. */
export const memberProblem = (
  object: unknown,
  { key, cells }: { readonly key: string; readonly cells: Readonly<Record<string, string>> },
): string | undefined => {
  const { type = '', value = '' } = cells
  const found = memberAt(object, key)
  if (found === undefined) return mayBeAbsent(value) ? undefined : `${key} is missing`
  if (found === null && /\bnull\b/.test(value)) return undefined
  return fits(type, found) ? undefined : `${key} is no ${type}: ${JSON.stringify(found)?.slice(0, 80)}`
}

const objectProblem = (sections: readonly string[], value: unknown): string | undefined => {
  const rows = sections.flatMap(membersOf)
  const known = new Set(rows.map(({ key }) => key.split('.')[0]))
  const extra = Object.keys(value as object).find(name => !known.has(name))
  if (extra !== undefined) return `${extra} is in no row`
  return rows.map(row => memberProblem(value, row)).find(problem => problem !== undefined)
}

/** Returns true when a value is of a type of the page: `QUANTITY`, `list of DATA 20`, `block or null`. */
const fits = (type: string, value: unknown): boolean => typeProblem(type, value) === undefined

/** Returns why a value is not of a type; undefined when it is. */
export const typeProblem = (type: string, value: unknown): string | undefined => {
  const alternatives = type.split(' or ')
  if (alternatives.length > 1) {
    const problems = alternatives.map(alternative => typeProblem(alternative, value))
    return problems.includes(undefined) ? undefined : problems.join('; ')
  }
  const [, items] = /^list of (.+)$/.exec(type) ?? []
  if (items !== undefined)
    return Array.isArray(value)
      ? value.map(item => typeProblem(items, item)).find(problem => problem !== undefined)
      : `no list: ${JSON.stringify(value)?.slice(0, 80)}`
  const [, bytes] = /^DATA (\d+)$/.exec(type) ?? []
  if (bytes !== undefined) return isText(value, hexOf(`{${bytes}}`)) ? undefined : `no DATA ${bytes}: ${value}`
  const sections = OBJECTS[type]
  if (sections !== undefined)
    return SCALARS['object']?.(value) ? objectProblem(sections, value) : `no ${type}: ${JSON.stringify(value)}`
  const scalar = SCALARS[type]
  if (scalar === undefined) return `docs/interface.md has a type without a check: ${type}`
  return scalar(value) ? undefined : `no ${type}: ${JSON.stringify(value)?.slice(0, 80)}`
}

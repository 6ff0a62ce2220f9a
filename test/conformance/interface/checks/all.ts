import { existsSync } from 'node:fs'
import type { InterfaceRow } from '../rows.ts'
import { ARGUMENT_CHECKS } from './arguments.ts'
import type { Check, SectionChecks } from './check.ts'
import { ERROR_CHECKS } from './errors.ts'
import { METHOD_CHECKS } from './methods.ts'
import { NETWORK_CHECKS } from './networks.ts'
import { OBJECT_CHECKS } from './objects.ts'
import { ELSEWHERE, TRANSPORT_CHECKS } from './transport.ts'

/** Checks of the rows of docs/interface.md, by section and first cell. */
export const CHECKS: Readonly<Record<string, SectionChecks>> = {
  ...TRANSPORT_CHECKS,
  ...NETWORK_CHECKS,
  ...ARGUMENT_CHECKS,
  ...OBJECT_CHECKS,
  ...METHOD_CHECKS,
  ...ERROR_CHECKS,
}

const checkedElsewhere =
  (file: string): Check =>
  async () => {
    if (!existsSync(file)) throw new Error(`${file} is gone: the row needs a check`)
  }

/** Returns the check of a row; undefined when it has none. */
export const checkOf = ({ section, key }: InterfaceRow): Check | undefined => {
  const elsewhere = ELSEWHERE[`${section}: ${key}`]
  if (elsewhere !== undefined) return checkedElsewhere(elsewhere)
  const checks = CHECKS[section]
  return checks?.[key] ?? checks?.['*']
}

import { expect } from 'vitest'
import { type Endpoint, outcomeOf } from '../endpoint.ts'
import type { TestInterface } from '../networks.ts'
import type { InterfaceRow } from '../rows.ts'

/** Check of one row on the nodes of all networks. */
export type Check = (at: TestInterface, row: InterfaceRow) => Promise<void>

/** Checks of a section, by the first cell of the row; `*` checks every row of the section that has none of its own. */
export type SectionChecks = Readonly<Record<string, Check>>

/** Runs a check on every public port that serves a method, over both transports. */
export const onAll = async (
  { endpoints }: TestInterface,
  method: string,
  check: (endpoint: Endpoint) => Promise<void>,
): Promise<void> => {
  const serving = endpoints.filter(endpoint => endpoint.serves(method))
  expect(serving.length, `an endpoint that serves ${method}`).toBeGreaterThan(0)
  for (const endpoint of serving) await check(endpoint)
}

/** Expects `code message` of an error, or `result ...`. */
export const expectOutcome = async (
  endpoint: Endpoint,
  method: string,
  params: readonly unknown[],
  expected: string | RegExp,
): Promise<void> => {
  const outcome = outcomeOf(await endpoint.ask(method, params))
  const what = `${endpoint.name}: ${method} ${JSON.stringify(params)?.slice(0, 200)}`
  if (typeof expected === 'string') expect(outcome, what).toBe(expected)
  else expect(outcome, what).toMatch(expected)
}

export const notServed = (method: string): string => `-32601 the method ${method} does not exist/is not available`

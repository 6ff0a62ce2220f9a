import { systemClock } from '@tandem/base/clock.ts'
import fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checksumAddress } from '../../../src/crypto/checksum.ts'
import { addFaucetRoutes } from '../../../src/faucet/faucet-http.ts'
import { ModelChain } from '../../support/faucet/model-chain.ts'
import { openStore, recipient, serviceOf } from '../../support/faucet/rig.ts'

const GRANTED = recipient(1)
const OTHER = recipient(2)
const PAGE = 'text/html,application/xhtml+xml'

let app: FastifyInstance

beforeEach(() => {
  const store = openStore(':memory:')
  store.reserve(GRANTED, 'c', systemClock.nowMs())
  const service = serviceOf({ store, node: new ModelChain(), clock: systemClock })
  const site = { network: 'devnet', symbol: 'TOK', version: '1', explorerUrl: '/explorer', faucet: true }
  app = fastify()
  addFaucetRoutes(app, { open: async () => service, site, clientOf: () => 'c', clock: systemClock })
})
afterEach(() => app.close())

const show = (address: string, accept: string) => app.inject({ url: `/faucet/grants/${address}`, headers: { accept } })

test('the grant of an address is shown however the address is written', async () => {
  for (const address of [GRANTED, checksumAddress(GRANTED), GRANTED.toUpperCase().replace('0X', '0x')]) {
    const answer = await show(address, PAGE)
    expect([answer.statusCode, answer.body.includes('Next grant')]).toEqual([200, true])
  }
})

test('a person gets a page that leads back where there is no grant, a script JSON, anything else a line', async () => {
  for (const address of [OTHER, '0x', '<b>', `${GRANTED}0`]) {
    const page = await show(encodeURIComponent(address), PAGE)
    expect([page.statusCode, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(page.body).toMatch(/<h1>No grant<\/h1>.*<a href="\/faucet">/s)
    const json = await show(encodeURIComponent(address), 'application/json')
    expect([json.statusCode, json.json().error.code]).toEqual([404, 'NOT_FOUND'])
    const line = await show(encodeURIComponent(address), '*/*')
    expect([line.statusCode, line.body]).toEqual([404, 'the faucet gave nothing to this address\n'])
  }
})

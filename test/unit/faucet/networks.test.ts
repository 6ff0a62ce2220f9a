import { systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { allowsFaucet, NETWORKS } from '../../../src/config/networks.ts'
import { checkFaucetNetwork, openFaucet } from '../../../src/faucet/open-faucet.ts'
import { ModelChain } from '../../support/faucet/model-chain.ts'

test('testnet and devnets have a faucet, mainnet and chains with its id have none', () => {
  expect(allowsFaucet(NETWORKS.testnet)).toBe(true)
  expect(allowsFaucet(NETWORKS.devnet)).toBe(true)
  expect(allowsFaucet(NETWORKS.mainnet)).toBe(false)
  expect(allowsFaucet({ ...NETWORKS.devnet, chainId: NETWORKS.mainnet.chainId })).toBe(false)
  expect(() => checkFaucetNetwork(NETWORKS.mainnet)).toThrow('FAUCET_ON_MAINNET')
})

test('a node that turns out to serve mainnet is refused before a store is made', async () => {
  const node = new ModelChain()
  node.chainId = async () => NETWORKS.mainnet.chainId
  const options = {
    onFatal: () => {},
    node,
    privateKey: new Uint8Array(32).fill(1),
    clock: systemClock,
    logger: silentLogger,
  }
  const opening = openFaucet({ ...options, params: NETWORKS.testnet, storePath: '/nowhere/grants.sqlite' })
  await expect(opening).rejects.toThrow('FAUCET_ON_MAINNET')
})

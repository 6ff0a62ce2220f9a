import { createRequire } from 'node:module'
import hardhatIgnitionEthers from '@nomicfoundation/hardhat-ignition-ethers'
import hardhatNetworkHelpers from '@nomicfoundation/hardhat-network-helpers'
import hardhatVerify from '@nomicfoundation/hardhat-verify'
import { defineConfig } from 'hardhat/config'

const { TANDEM_URL, TANDEM_KEYS, TANDEM_CHAIN_ID = '1998999' } = process.env
if (!TANDEM_URL || !TANDEM_KEYS) throw new Error('set TANDEM_URL and TANDEM_KEYS (comma-separated private keys)')

export default defineConfig({
  plugins: [hardhatIgnitionEthers, hardhatNetworkHelpers, hardhatVerify],
  solidity: {
    version: '0.8.37',
    // The npm compiler: nothing is downloaded.
    path: createRequire(import.meta.url).resolve('solc/soljson.js'),
    settings: { optimizer: { enabled: true, runs: 200 } },
  },
  // Faster than its default of a second; the number of confirmations stays what it is.
  ignition: { blockPollingInterval: 100 },
  // The explorer of the node, for contract verification. Its interface wants some key.
  chainDescriptors: {
    [Number(TANDEM_CHAIN_ID)]: {
      name: 'Tandem',
      blockExplorers: {
        etherscan: { name: 'Tandem', url: `${TANDEM_URL}/explorer`, apiUrl: `${TANDEM_URL}/api` },
        blockscout: { name: 'Tandem', url: `${TANDEM_URL}/explorer`, apiUrl: `${TANDEM_URL}/api` },
      },
    },
  },
  verify: { etherscan: { apiKey: 'any' } },
  networks: {
    tandem: { type: 'http', url: TANDEM_URL, accounts: TANDEM_KEYS.split(',') },
    // Keys in the node (devnet --unlock): only so does hardhat send for accounts that are impersonated.
    unlocked: { type: 'http', url: TANDEM_URL, accounts: 'remote' },
  },
})

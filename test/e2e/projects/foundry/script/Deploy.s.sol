// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ledger} from "../src/Ledger.sol";
import {vm} from "./Vm.sol";

/// Deploys a ledger, pays two accounts and buys more: four transactions in nonce order.
contract Deploy {
    bool public constant IS_SCRIPT = true;

    function run(address first, address second) external returns (Ledger ledger) {
        vm.startBroadcast();
        ledger = new Ledger(1_000);
        require(ledger.transfer(first, 300), "first transfer");
        require(ledger.transfer(second, 200), "second transfer");
        ledger.buy{value: 7}();
        vm.stopBroadcast();
        require(ledger.balanceOf(first) == 300 && ledger.balanceOf(second) == 200, "balances");
    }
}

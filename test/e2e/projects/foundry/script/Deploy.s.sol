// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ledger} from "../src/Ledger.sol";

/// The part of forge's cheat codes used here: forge-std is no npm package.
interface Vm {
    function startBroadcast() external;
    function stopBroadcast() external;
}

/// Deploys a ledger, pays two accounts and buys more: four transactions in nonce order.
contract Deploy {
    Vm private constant vm = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
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

.PHONY: run test lint bench nation test-slow screenshots package
run: ; @sh packaging/run.sh $(ARGS)
test: ; @sh packaging/test.sh $(ARGS)
lint: ; @sh packaging/lint.sh
bench: ; @sh packaging/bench.sh $(ARGS)
test-slow: ; @sh packaging/test.sh -m slow $(ARGS)
screenshots: ; @sh packaging/bootstrap.sh && XDG_DATA_HOME=/tmp/phexplore QT_QPA_PLATFORM=offscreen .venv/bin/python packaging/screenshots docs/screenshots
package: ; @sh packaging/package.sh $(ARGS)
nation: ; @sh packaging/bootstrap.sh && .venv/bin/python benchmarks/bench_nation.py --further --microdata --resume --cluster --table nation-benchmark.md --json nation-benchmark.json $(ARGS)

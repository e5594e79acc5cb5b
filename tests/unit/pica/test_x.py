def test_it(gpu, make_gpu):
    import time
    for i in range(3):
        t=time.perf_counter(); g = make_gpu(); print("make", time.perf_counter()-t)
        g.quad(color=(1, 0, 0.5, 1)); t=time.perf_counter(); assert g.run(); print("run", time.perf_counter()-t)
    print(hex(g.color_words()[3, 4]), list(g.events))
    for i in range(6):
        g.set(LOGIC_OP=i)
        g.quad(color=(1, 0, 0.5, 1)); t=time.perf_counter(); assert g.run(); print("run", time.perf_counter()-t)
    t=time.perf_counter(); g = make_gpu(evaluator="numpy"); g.quad(color=(1, 0, 0.5, 1)); assert g.run(); print("run", time.perf_counter()-t)
    assert 0
